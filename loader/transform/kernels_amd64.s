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

// HEAD loads the arguments that the horizontal kernels have: DI the row that is made, SI
// the row of the source, R8 the offsets, R9 the weights, R10 the pairs of pixels that an
// output takes in, CX groups, Y14 scale, Y15 bias.
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

// LOAD begins a group of 4 outputs: 4 pixels of the first and the second in Y4, of the
// third and the fourth in Y5.
#define LOAD \
	MOVLQSX (R8), AX \
	MOVLQSX 4(R8), BX \
	MOVLQSX 8(R8), DX \
	MOVLQSX 12(R8), R12 \
	VMOVDQU (SI)(AX*1), X4 \
	VMOVDQU (SI)(DX*1), X5 \
	VINSERTI128 $1, (SI)(BX*1), Y4, Y4 \
	VINSERTI128 $1, (SI)(R12*1), Y5, Y5

// MORE loads the next 4 pixels of each.
#define MORE \
	ADDQ $16, AX \
	ADDQ $16, BX \
	ADDQ $16, DX \
	ADDQ $16, R12 \
	VMOVDQU (SI)(AX*1), X4 \
	VMOVDQU (SI)(DX*1), X5 \
	VINSERTI128 $1, (SI)(BX*1), Y4, Y4 \
	VINSERTI128 $1, (SI)(R12*1), Y5, Y5

// FIRST makes the sums: of two pixels times the upper bits of their weights in Y0 and Y2,
// times the lower ones in Y1 and Y3.
#define FIRST \
	VPSHUFB Y12, Y4, Y6 \
	VPSHUFB Y12, Y5, Y7 \
	VPMADDWD (R9), Y6, Y0 \
	VPMADDWD 32(R9), Y6, Y1 \
	VPMADDWD 64(R9), Y7, Y2 \
	VPMADDWD 96(R9), Y7, Y3

// PAIR adds two pixels more.
#define PAIR(control, at) \
	VPSHUFB control, Y4, Y6 \
	VPSHUFB control, Y5, Y7 \
	VPMADDWD at+0(R9), Y6, Y8 \
	VPMADDWD at+32(R9), Y6, Y9 \
	VPMADDWD at+64(R9), Y7, Y10 \
	VPMADDWD at+96(R9), Y7, Y11 \
	VPADDD Y8, Y0, Y0 \
	VPADDD Y9, Y1, Y1 \
	VPADDD Y10, Y2, Y2 \
	VPADDD Y11, Y3, Y3

// NORMAL makes Y0 and Y2 the sums, normalised.
#define NORMAL \
	VPSLLD $8, Y0, Y0 \
	VPSLLD $8, Y2, Y2 \
	VPADDD Y1, Y0, Y0 \
	VPADDD Y3, Y2, Y2 \
	VCVTDQ2PS Y0, Y0 \
	VCVTDQ2PS Y2, Y2 \
	VFMADD213PS Y15, Y14, Y0 \
	VFMADD213PS Y15, Y14, Y2

// PACKED stores them as R, G, B a pixel: each store's fourth value is the next one's first.
#define PACKED \
	VMOVUPS X0, (DI) \
	VEXTRACTF128 $1, Y0, 12(DI) \
	VMOVUPS X2, 24(DI) \
	VEXTRACTF128 $1, Y2, 36(DI) \
	ADDQ $48, DI

// PLANES stores them R11 bytes apart. The second output is the group's third, so that
// pairs of them unpack into place: r0 r1 g0 g1, r2 r3 g2 g3.
#define PLANES \
	VUNPCKLPS Y2, Y0, Y4 \
	VUNPCKHPS Y2, Y0, Y5 \
	VPERMPD $0xD8, Y4, Y4 \
	VPERMPD $0xD8, Y5, Y5 \
	VMOVUPS X4, (DI) \
	VEXTRACTF128 $1, Y4, (DI)(R11*1) \
	VMOVUPS X5, (DI)(R11*2) \
	ADDQ $16, DI

// LOOPS makes all groups: with one pair, with two, and with more, which saves the counting
// where it matters most. store is PACKED or PLANES.
#define LOOPS(store) \
	CMPQ R10, $2 \
	JEQ two \
	JGT many \
one: \
	LOAD \
	FIRST \
	NORMAL \
	store \
	ADDQ $16, R8 \
	ADDQ $128, R9 \
	DECQ CX \
	JNZ one \
	VZEROUPPER \
	RET \
two: \
	LOAD \
	FIRST \
	PAIR(Y13, 128) \
	NORMAL \
	store \
	ADDQ $16, R8 \
	ADDQ $256, R9 \
	DECQ CX \
	JNZ two \
	VZEROUPPER \
	RET \
many: \
	LOAD \
	FIRST \
	PAIR(Y13, 128) \
	LEAQ -2(R10), R13 \
pair: \
	MORE \
	ADDQ $256, R9 \
	PAIR(Y12, 0) \
	SUBQ $2, R13 \
	JLT odd \
	PAIR(Y13, 128) \
	JG pair \
	ADDQ $128, R9 \
odd: \
	ADDQ $128, R9 \
	NORMAL \
	store \
	ADDQ $16, R8 \
	DECQ CX \
	JNZ many \
	VZEROUPPER \
	RET

// func horizontalPacked(dst *float32, src *byte, off *int32, w *uint32, pairs, groups int, norm *affine)
TEXT ·horizontalPacked(SB), NOSPLIT, $0-56
	HEAD
	LOOPS(PACKED)

// func horizontalPlanes(dst *float32, src *byte, off *int32, w *uint32, pairs, groups int, norm *affine, plane int)
TEXT ·horizontalPlanes(SB), NOSPLIT, $0-64
	HEAD
	MOVQ plane+56(FP), R11
	SHLQ $2, R11
	LOOPS(PLANES)

// func combine(dst unsafe.Pointer, ring *float32, offsets *int, w *float32, rows, count int)
TEXT ·combine(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ ring+8(FP), SI
	MOVQ offsets+16(FP), R8
	MOVQ w+24(FP), R9
	MOVQ rows+32(FP), R10
	MOVQ count+40(FP), R11
	LEAQ (DI)(R11*4), R12 // the row after this one, which is next

wide:
	CMPQ         R11, $32
	JLT          narrow
	MOVQ         (R8), AX
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
	MOVQ         (R8)(BX*8), AX
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
	PREFETCHT0 (R12)
	PREFETCHT0 64(R12)
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ    $128, SI
	ADDQ    $128, DI
	ADDQ    $128, R12
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
	MOVQ         (R8), AX
	VBROADCASTSS (R9), Y8
	VMULPS       (SI)(AX*4), Y8, Y0
	MOVQ         $1, BX
	CMPQ         BX, R10
	JGE          eightstore

eightrow:
	MOVQ         (R8)(BX*8), AX
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
