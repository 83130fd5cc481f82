#include "textflag.h"

// Control bytes of VPSHUFB: two pixels' R, G, B and the byte between as pairs of words.
DATA firstpair<>+0(SB)/8, $0x8005800180048000
DATA firstpair<>+8(SB)/8, $0x8007800380068002
DATA firstpair<>+16(SB)/8, $0x8005800180048000
DATA firstpair<>+24(SB)/8, $0x8007800380068002
GLOBL firstpair<>(SB), RODATA|NOPTR, $32

DATA secondpair<>+0(SB)/8, $0x800d8009800c8008
DATA secondpair<>+8(SB)/8, $0x800f800b800e800a
DATA secondpair<>+16(SB)/8, $0x800d8009800c8008
DATA secondpair<>+24(SB)/8, $0x800f800b800e800a
GLOBL secondpair<>(SB), RODATA|NOPTR, $32

// HEAD loads the arguments that both horizontal kernels have.
#define HEAD \
	MOVQ dst+0(FP), DI \
	MOVQ src+8(FP), SI \
	MOVQ off+16(FP), R8 \
	MOVQ w+24(FP), R9 \
	MOVQ pairs+32(FP), R10 \
	MOVQ groups+40(FP), CX \
	MOVQ norm+48(FP), R11 \
	VMOVUPS (R11), Y14 \
	VMOVUPS 32(R11), Y15 \
	VMOVDQU firstpair<>(SB), Y12 \
	VMOVDQU secondpair<>(SB), Y13

// GROUP begins a group of 4 outputs: where their pixels are, and sums of 0. Y0 and Y2 have
// the sums of the upper bits of the weights, Y1 and Y3 of the lower.
#define GROUP \
	MOVLQSX (R8), AX \
	MOVLQSX 4(R8), BX \
	MOVLQSX 8(R8), DX \
	MOVLQSX 12(R8), R12 \
	ADDQ SI, AX \
	ADDQ SI, BX \
	ADDQ SI, DX \
	ADDQ SI, R12 \
	ADDQ $16, R8 \
	MOVQ R10, R13 \
	VPXOR Y0, Y0, Y0 \
	VPXOR Y1, Y1, Y1 \
	VPXOR Y2, Y2, Y2 \
	VPXOR Y3, Y3, Y3

// LOAD loads 4 pixels of each output.
#define LOAD \
	VMOVDQU (AX), X4 \
	VMOVDQU (DX), X5 \
	VINSERTI128 $1, (BX), Y4, Y4 \
	VINSERTI128 $1, (R12), Y5, Y5

// PAIR adds two of the pixels times their weights.
#define PAIR(control) \
	VPSHUFB control, Y4, Y6 \
	VPSHUFB control, Y5, Y7 \
	VPMADDWD (R9), Y6, Y8 \
	VPMADDWD 64(R9), Y7, Y10 \
	VPMADDWD 32(R9), Y6, Y9 \
	VPMADDWD 96(R9), Y7, Y11 \
	VPADDD Y8, Y0, Y0 \
	VPADDD Y9, Y1, Y1 \
	VPADDD Y10, Y2, Y2 \
	VPADDD Y11, Y3, Y3 \
	ADDQ $128, R9

// TOTAL makes Y0 and Y2 the sums, normalised.
#define TOTAL \
	VPSLLD $8, Y0, Y0 \
	VPSLLD $8, Y2, Y2 \
	VPADDD Y1, Y0, Y0 \
	VPADDD Y3, Y2, Y2 \
	VCVTDQ2PS Y0, Y0 \
	VCVTDQ2PS Y2, Y2 \
	VFMADD213PS Y15, Y14, Y0 \
	VFMADD213PS Y15, Y14, Y2

// func horizontalPacked(dst *float32, src *byte, off *int32, w *int16, pairs, groups int, norm *affine)
TEXT ·horizontalPacked(SB), NOSPLIT, $0-56
	HEAD

packed:
	GROUP

packedpair:
	LOAD
	PAIR(Y12)
	SUBQ $2, R13
	JLT  packedtotal
	PAIR(Y13)
	ADDQ $16, AX
	ADDQ $16, BX
	ADDQ $16, DX
	ADDQ $16, R12
	TESTQ R13, R13
	JG  packedpair

packedtotal:
	TOTAL
	VMOVUPS      X0, (DI)
	VEXTRACTF128 $1, Y0, 12(DI)
	VMOVUPS      X2, 24(DI)
	VEXTRACTF128 $1, Y2, 36(DI)
	ADDQ         $48, DI
	DECQ         CX
	JNZ          packed
	VZEROUPPER
	RET

// func horizontalPlanes(dst *float32, src *byte, off *int32, w *int16, pairs, groups int, norm *affine, plane int)
TEXT ·horizontalPlanes(SB), NOSPLIT, $0-64
	HEAD
	MOVQ plane+56(FP), R11
	SHLQ $2, R11

planes:
	GROUP

planespair:
	LOAD
	PAIR(Y12)
	SUBQ $2, R13
	JLT  planestotal
	PAIR(Y13)
	ADDQ $16, AX
	ADDQ $16, BX
	ADDQ $16, DX
	ADDQ $16, R12
	TESTQ R13, R13
	JG  planespair

planestotal:
	TOTAL
	VUNPCKLPS    Y2, Y0, Y4        // r0 r1 g0 g1, r2 r3 g2 g3
	VUNPCKHPS    Y2, Y0, Y5        // b0 b1 - -, b2 b3 - -
	VPERMPD      $0xD8, Y4, Y4     // r0 r1 r2 r3, g0 g1 g2 g3
	VPERMPD      $0xD8, Y5, Y5
	VMOVUPS      X4, (DI)
	VEXTRACTF128 $1, Y4, (DI)(R11*1)
	VMOVUPS      X5, (DI)(R11*2)
	ADDQ         $16, DI
	DECQ         CX
	JNZ          planes
	VZEROUPPER
	RET

// func combine(dst unsafe.Pointer, ring *float32, offsets *int32, w *float32, rows, count int)
TEXT ·combine(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ ring+8(FP), SI
	MOVQ offsets+16(FP), R8
	MOVQ w+24(FP), R9
	MOVQ rows+32(FP), R10
	MOVQ count+40(FP), R11

wide:
	CMPQ         R11, $32
	JLT          narrow
	MOVLQSX      (R8), AX
	LEAQ         (SI)(AX*4), AX
	VBROADCASTSS (R9), Y8
	VMULPS       (AX), Y8, Y0
	VMULPS       32(AX), Y8, Y1
	VMULPS       64(AX), Y8, Y2
	VMULPS       96(AX), Y8, Y3
	MOVQ         $1, BX
	CMPQ         BX, R10
	JGE          widestore

widerow:
	MOVLQSX      (R8)(BX*4), AX
	LEAQ         (SI)(AX*4), AX
	VBROADCASTSS (R9)(BX*4), Y8
	VFMADD231PS  (AX), Y8, Y0
	VFMADD231PS  32(AX), Y8, Y1
	VFMADD231PS  64(AX), Y8, Y2
	VFMADD231PS  96(AX), Y8, Y3
	INCQ         BX
	CMPQ         BX, R10
	JLT          widerow

widestore:
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	SUBQ    $32, R11
	JMP     wide

narrow:
	TESTQ R11, R11
	JZ    combined
	CMPQ  R11, $8
	JGE   eight

	// Fewer than 8 are left: go back to the last 8.
	LEAQ -32(SI)(R11*4), SI
	LEAQ -32(DI)(R11*4), DI
	MOVQ $8, R11

eight:
	MOVLQSX      (R8), AX
	VBROADCASTSS (R9), Y8
	VMULPS       (SI)(AX*4), Y8, Y0
	MOVQ         $1, BX
	CMPQ         BX, R10
	JGE          eightstore

eightrow:
	MOVLQSX      (R8)(BX*4), AX
	VBROADCASTSS (R9)(BX*4), Y8
	VFMADD231PS  (SI)(AX*4), Y8, Y0
	INCQ         BX
	CMPQ         BX, R10
	JLT          eightrow

eightstore:
	VMOVUPS Y0, (DI)
	ADDQ    $32, SI
	ADDQ    $32, DI
	SUBQ    $8, R11
	JMP     narrow

combined:
	VZEROUPPER
	RET

// func toFloat16(dst *byte, src *float32, count int)
TEXT ·toFloat16(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ count+16(FP), CX

half:
	CMPQ CX, $8
	JGE  halfstore
	TESTQ CX, CX
	JZ   halved
	LEAQ -32(SI)(CX*4), SI
	LEAQ -16(DI)(CX*2), DI
	MOVQ $8, CX

halfstore:
	VMOVUPS   (SI), Y0
	VCVTPS2PH $0, Y0, (DI)
	ADDQ      $32, SI
	ADDQ      $16, DI
	SUBQ      $8, CX
	JMP       half

halved:
	VZEROUPPER
	RET

// func toUint8(dst *byte, src *float32, count int)
TEXT ·toUint8(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ count+16(FP), CX

bytes:
	CMPQ CX, $8
	JGE  bytestore
	TESTQ CX, CX
	JZ   bytesdone
	LEAQ -32(SI)(CX*4), SI
	LEAQ -8(DI)(CX*1), DI
	MOVQ $8, CX

bytestore:
	VCVTPS2DQ    (SI), Y0
	VEXTRACTI128 $1, Y0, X1
	VPACKSSDW    X1, X0, X0
	VPACKUSWB    X0, X0, X0
	VMOVQ        X0, (DI)
	ADDQ         $32, SI
	ADDQ         $8, DI
	SUBQ         $8, CX
	JMP          bytes

bytesdone:
	VZEROUPPER
	RET
