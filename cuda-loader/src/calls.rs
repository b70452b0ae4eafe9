//! The list of driver calls: names and parameters, as `cuda.h` has them.
//!
//! The first part is every function that `cust` refers to; the crate exports these under their own names. The second
//! part is what `host-runtime` needs beyond `cust`. Only the shape of a call counts here, so every pointer and handle
//! is a [`Pointer`](crate::Pointer), every enum a `c_uint`, and a device address a `u64`.

/// Expands `$with!` with both lists.
macro_rules! driver_calls {
    ($with:ident) => {
        $with! {
            exported {
                fn cuArray3DCreate_v2(p_handle: Pointer, p_allocate_array: Pointer);
                fn cuArray3DGetDescriptor_v2(p_array_descriptor: Pointer, h_array: Pointer);
                fn cuArrayDestroy(h_array: Pointer);
                fn cuCtxCreate_v2(pctx: Pointer, flags: c_uint, dev: c_int);
                fn cuCtxDestroy_v2(ctx: Pointer);
                fn cuCtxGetApiVersion(ctx: Pointer, version: Pointer);
                fn cuCtxGetCacheConfig(pconfig: Pointer);
                fn cuCtxGetCurrent(pctx: Pointer);
                fn cuCtxGetDevice(device: Pointer);
                fn cuCtxGetFlags(flags: Pointer);
                fn cuCtxGetLimit(pvalue: Pointer, limit: c_uint);
                fn cuCtxGetSharedMemConfig(p_config: Pointer);
                fn cuCtxGetStreamPriorityRange(least_priority: Pointer, greatest_priority: Pointer);
                fn cuCtxPopCurrent_v2(pctx: Pointer);
                fn cuCtxPushCurrent_v2(ctx: Pointer);
                fn cuCtxSetCacheConfig(config: c_uint);
                fn cuCtxSetCurrent(ctx: Pointer);
                fn cuCtxSetLimit(limit: c_uint, value: usize);
                fn cuCtxSetSharedMemConfig(config: c_uint);
                fn cuCtxSynchronize();
                fn cuDestroyExternalMemory(ext_mem: Pointer);
                fn cuDeviceGet(device: Pointer, ordinal: c_int);
                fn cuDeviceGetAttribute(pi: Pointer, attrib: c_uint, dev: c_int);
                fn cuDeviceGetCount(count: Pointer);
                fn cuDeviceGetName(name: Pointer, len: c_int, dev: c_int);
                fn cuDevicePrimaryCtxRelease_v2(dev: c_int);
                fn cuDevicePrimaryCtxReset_v2(dev: c_int);
                fn cuDevicePrimaryCtxRetain(pctx: Pointer, dev: c_int);
                fn cuDevicePrimaryCtxSetFlags_v2(dev: c_int, flags: c_uint);
                fn cuDeviceTotalMem_v2(bytes: Pointer, dev: c_int);
                fn cuDriverGetVersion(driver_version: Pointer);
                fn cuEventCreate(ph_event: Pointer, flags: c_uint);
                fn cuEventDestroy_v2(h_event: Pointer);
                fn cuEventElapsedTime(p_milliseconds: Pointer, h_start: Pointer, h_end: Pointer);
                fn cuEventQuery(h_event: Pointer);
                fn cuEventRecord(h_event: Pointer, h_stream: Pointer);
                fn cuEventSynchronize(h_event: Pointer);
                fn cuExternalMemoryGetMappedBuffer(dev_ptr: Pointer, ext_mem: Pointer, buffer_desc: Pointer);
                fn cuFuncGetAttribute(pi: Pointer, attrib: c_uint, hfunc: Pointer);
                fn cuFuncSetCacheConfig(hfunc: Pointer, config: c_uint);
                fn cuFuncSetSharedMemConfig(hfunc: Pointer, config: c_uint);
                fn cuGetErrorString(error: c_uint, p_str: Pointer);
                fn cuGraphAddKernelNode(ph_graph_node: Pointer, h_graph: Pointer, dependencies: Pointer, num_dependencies: usize, node_params: Pointer);
                fn cuGraphCreate(ph_graph: Pointer, flags: c_uint);
                fn cuGraphDebugDotPrint(h_graph: Pointer, path: Pointer, flags: c_uint);
                fn cuGraphDestroy(h_graph: Pointer);
                fn cuGraphGetEdges(h_graph: Pointer, from: Pointer, to: Pointer, num_edges: Pointer);
                fn cuGraphGetNodes(h_graph: Pointer, nodes: Pointer, num_nodes: Pointer);
                fn cuGraphKernelNodeGetParams(h_node: Pointer, node_params: Pointer);
                fn cuGraphNodeGetType(h_node: Pointer, kind: Pointer);
                fn cuImportExternalMemory(ext_mem_out: Pointer, mem_handle_desc: Pointer);
                fn cuInit(flags: c_uint);
                fn cuLaunchHostFunc(h_stream: Pointer, function: Pointer, user_data: Pointer);
                fn cuLaunchKernel(f: Pointer, grid_dim_x: c_uint, grid_dim_y: c_uint, grid_dim_z: c_uint, block_dim_x: c_uint, block_dim_y: c_uint, block_dim_z: c_uint, shared_mem_bytes: c_uint, h_stream: Pointer, kernel_params: Pointer, extra: Pointer);
                fn cuLinkAddData_v2(state: Pointer, kind: c_uint, data: Pointer, size: usize, name: Pointer, num_options: c_uint, options: Pointer, option_values: Pointer);
                fn cuLinkComplete(state: Pointer, cubin_out: Pointer, size_out: Pointer);
                fn cuLinkCreate_v2(num_options: c_uint, options: Pointer, option_values: Pointer, state_out: Pointer);
                fn cuLinkDestroy(state: Pointer);
                fn cuMemAdvise(dev_ptr: u64, count: usize, advice: c_uint, device: c_int);
                fn cuMemAllocAsync(dptr: Pointer, bytesize: usize, h_stream: Pointer);
                fn cuMemAllocHost_v2(pp: Pointer, bytesize: usize);
                fn cuMemAllocManaged(dptr: Pointer, bytesize: usize, flags: c_uint);
                fn cuMemAlloc_v2(dptr: Pointer, bytesize: usize);
                fn cuMemFreeAsync(dptr: u64, h_stream: Pointer);
                fn cuMemFreeHost(p: Pointer);
                fn cuMemFree_v2(dptr: u64);
                fn cuMemGetInfo_v2(free: Pointer, total: Pointer);
                fn cuMemPrefetchAsync(dev_ptr: u64, count: usize, dst_device: c_int, h_stream: Pointer);
                fn cuMemcpy2D_v2(p_copy: Pointer);
                fn cuMemcpyAtoH_v2(dst_host: Pointer, src_array: Pointer, src_offset: usize, byte_count: usize);
                fn cuMemcpyDtoDAsync_v2(dst_device: u64, src_device: u64, byte_count: usize, h_stream: Pointer);
                fn cuMemcpyDtoD_v2(dst_device: u64, src_device: u64, byte_count: usize);
                fn cuMemcpyDtoHAsync_v2(dst_host: Pointer, src_device: u64, byte_count: usize, h_stream: Pointer);
                fn cuMemcpyDtoH_v2(dst_host: Pointer, src_device: u64, byte_count: usize);
                fn cuMemcpyHtoA_v2(dst_array: Pointer, dst_offset: usize, src_host: Pointer, byte_count: usize);
                fn cuMemcpyHtoDAsync_v2(dst_device: u64, src_host: Pointer, byte_count: usize, h_stream: Pointer);
                fn cuMemcpyHtoD_v2(dst_device: u64, src_host: Pointer, byte_count: usize);
                fn cuMemsetD16Async(dst_device: u64, us: c_ushort, n: usize, h_stream: Pointer);
                fn cuMemsetD16_v2(dst_device: u64, us: c_ushort, n: usize);
                fn cuMemsetD32Async(dst_device: u64, ui: c_uint, n: usize, h_stream: Pointer);
                fn cuMemsetD32_v2(dst_device: u64, ui: c_uint, n: usize);
                fn cuMemsetD8Async(dst_device: u64, uc: c_uchar, n: usize, h_stream: Pointer);
                fn cuMemsetD8_v2(dst_device: u64, uc: c_uchar, n: usize);
                fn cuModuleGetFunction(hfunc: Pointer, hmod: Pointer, name: Pointer);
                fn cuModuleGetGlobal_v2(dptr: Pointer, bytes: Pointer, hmod: Pointer, name: Pointer);
                fn cuModuleLoad(module: Pointer, fname: Pointer);
                fn cuModuleLoadData(module: Pointer, image: Pointer);
                fn cuModuleLoadDataEx(module: Pointer, image: Pointer, num_options: c_uint, options: Pointer, option_values: Pointer);
                fn cuModuleUnload(hmod: Pointer);
                fn cuOccupancyAvailableDynamicSMemPerBlock(dynamic_smem_size: Pointer, func: Pointer, num_blocks: c_int, block_size: c_int);
                fn cuOccupancyMaxActiveBlocksPerMultiprocessor(num_blocks: Pointer, func: Pointer, block_size: c_int, dynamic_s_mem_size: usize);
                fn cuOccupancyMaxPotentialBlockSize(min_grid_size: Pointer, block_size: Pointer, func: Pointer, block_size_to_dynamic_s_mem_size: Pointer, dynamic_s_mem_size: usize, block_size_limit: c_int);
                fn cuStreamCreateWithPriority(ph_stream: Pointer, flags: c_uint, priority: c_int);
                fn cuStreamDestroy_v2(h_stream: Pointer);
                fn cuStreamGetFlags(h_stream: Pointer, flags: Pointer);
                fn cuStreamGetPriority(h_stream: Pointer, priority: Pointer);
                fn cuStreamSynchronize(h_stream: Pointer);
                fn cuStreamWaitEvent(h_stream: Pointer, h_event: Pointer, flags: c_uint);
                fn cuSurfObjectCreate(p_surf_object: Pointer, p_res_desc: Pointer);
                fn cuSurfObjectDestroy(surf_object: u64);
                fn cuSurfObjectGetResourceDesc(p_res_desc: Pointer, surf_object: u64);
                fn cuTexObjectCreate(p_tex_object: Pointer, p_res_desc: Pointer, p_tex_desc: Pointer, p_res_view_desc: Pointer);
                fn cuTexObjectDestroy(tex_object: u64);
                fn cuTexObjectGetResourceDesc(p_res_desc: Pointer, tex_object: u64);
            }
            extra {
                fn cuCtxEnablePeerAccess(peer_context: Pointer, flags: c_uint);
                fn cuDeviceCanAccessPeer(can_access_peer: Pointer, dev: c_int, peer_dev: c_int);
                fn cuDeviceGetDefaultMemPool(pool: Pointer, dev: c_int);
                fn cuFuncGetName(name: Pointer, hfunc: Pointer);
                fn cuFuncGetParamInfo(func: Pointer, param_index: usize, param_offset: Pointer, param_size: Pointer);
                fn cuFuncSetAttribute(hfunc: Pointer, attrib: c_uint, value: c_int);
                fn cuGetErrorName(error: c_uint, p_str: Pointer);
                fn cuGraphAddEmptyNode(ph_graph_node: Pointer, h_graph: Pointer, dependencies: Pointer, num_dependencies: usize);
                fn cuGraphAddHostNode(ph_graph_node: Pointer, h_graph: Pointer, dependencies: Pointer, num_dependencies: usize, node_params: Pointer);
                fn cuGraphAddMemcpyNode(ph_graph_node: Pointer, h_graph: Pointer, dependencies: Pointer, num_dependencies: usize, copy_params: Pointer, ctx: Pointer);
                fn cuGraphAddMemsetNode(ph_graph_node: Pointer, h_graph: Pointer, dependencies: Pointer, num_dependencies: usize, memset_params: Pointer, ctx: Pointer);
                fn cuGraphExecDestroy(h_graph_exec: Pointer);
                fn cuGraphExecKernelNodeSetParams(h_graph_exec: Pointer, h_node: Pointer, node_params: Pointer);
                fn cuGraphInstantiateWithFlags(ph_graph_exec: Pointer, h_graph: Pointer, flags: u64);
                fn cuGraphKernelNodeSetAttribute(h_node: Pointer, attr: c_uint, value: Pointer);
                fn cuGraphLaunch(h_graph_exec: Pointer, h_stream: Pointer);
                fn cuLaunchCooperativeKernel(f: Pointer, grid_dim_x: c_uint, grid_dim_y: c_uint, grid_dim_z: c_uint, block_dim_x: c_uint, block_dim_y: c_uint, block_dim_z: c_uint, shared_mem_bytes: c_uint, h_stream: Pointer, kernel_params: Pointer);
                fn cuLaunchKernelEx(config: Pointer, f: Pointer, kernel_params: Pointer, extra: Pointer);
                fn cuMemHostAlloc(pp: Pointer, bytesize: usize, flags: c_uint);
                fn cuMemHostGetDevicePointer_v2(pdptr: Pointer, p: Pointer, flags: c_uint);
                fn cuMemPoolGetAttribute(pool: Pointer, attr: c_uint, value: Pointer);
                fn cuMemPoolSetAccess(pool: Pointer, map: Pointer, count: usize);
                fn cuMemPoolSetAttribute(pool: Pointer, attr: c_uint, value: Pointer);
                fn cuMemPoolTrimTo(pool: Pointer, min_bytes_to_keep: usize);
                fn cuMemcpy2DAsync_v2(p_copy: Pointer, h_stream: Pointer);
                fn cuMemcpyPeerAsync(dst_device: u64, dst_context: Pointer, src_device: u64, src_context: Pointer, byte_count: usize, h_stream: Pointer);
                fn cuModuleEnumerateFunctions(functions: Pointer, num_functions: c_uint, hmod: Pointer);
                fn cuModuleGetFunctionCount(count: Pointer, hmod: Pointer);
                fn cuOccupancyMaxPotentialClusterSize(cluster_size: Pointer, func: Pointer, config: Pointer);
                fn cuStreamAddCallback(h_stream: Pointer, callback: Pointer, user_data: Pointer, flags: c_uint);
                fn cuStreamQuery(h_stream: Pointer);
            }
        }
    };
}

pub(crate) use driver_calls;
