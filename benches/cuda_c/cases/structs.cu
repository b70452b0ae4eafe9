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

extern "C" __global__ void move_soa(float dt, const float *__restrict__ vx, const float *__restrict__ vy, const float *__restrict__ vz,
                                    float *__restrict__ x, float *__restrict__ y, float *__restrict__ z, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] += dt * vx[i];
        y[i] += dt * vy[i];
        z[i] += dt * vz[i];
    }
}
