// The CUDA C side of structs.rs.

struct __align__(16) Particle {
    float x, y, z, mass, vx, vy, vz, charge;
};

extern "C" __global__ void move_aos(float dt, Particle *__restrict__ particles, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) {
        Particle p = particles[i];
        p.x += dt * p.vx;
        p.y += dt * p.vy;
        p.z += dt * p.vz;
        particles[i] = p;
    }
}

__device__ __forceinline__ float4 moved(float4 x, float dt, float4 v) {
    return make_float4(x.x + dt * v.x, x.y + dt * v.y, x.z + dt * v.z, x.w + dt * v.w);
}

extern "C" __global__ void move_soa(float dt, const float4 *__restrict__ vx, const float4 *__restrict__ vy, const float4 *__restrict__ vz,
                                    float4 *__restrict__ x, float4 *__restrict__ y, float4 *__restrict__ z, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = moved(x[i], dt, vx[i]);
        y[i] = moved(y[i], dt, vy[i]);
        z[i] = moved(z[i], dt, vz[i]);
    }
}
