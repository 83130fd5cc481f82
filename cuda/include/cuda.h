/* Stands before the toolkit's cuda.h, for gorgonia.org/cu: CUDA 13's header gives
 * these names to newer functions with other parameters. The driver has the older
 * functions all the same. With older headers this changes nothing. */
#ifndef DLBENCH_CUDA_H
#define DLBENCH_CUDA_H
#include_next <cuda.h>
#if CUDA_VERSION >= 13000
#undef cuCtxCreate
#undef cuDeviceGetUuid
#undef cuEventElapsedTime
#undef cuGraphAddDependencies
#undef cuGraphGetEdges
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#define cuCtxCreate cuCtxCreate_v2
CUresult CUDAAPI cuCtxCreate(CUcontext *, unsigned int, CUdevice);
CUresult CUDAAPI cuDeviceGetUuid(CUuuid *, CUdevice);
CUresult CUDAAPI cuEventElapsedTime(float *, CUevent, CUevent);
CUresult CUDAAPI cuGraphAddDependencies(CUgraph, const CUgraphNode *, const CUgraphNode *, size_t);
CUresult CUDAAPI cuGraphGetEdges(CUgraph, CUgraphNode *, CUgraphNode *, size_t *);
CUresult CUDAAPI cuMemAdvise(CUdeviceptr, size_t, CUmem_advise, CUdevice);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr, size_t, CUdevice, CUstream);
#endif
#endif
