/**
 * How the C library keeps the program's memory. Answers and encoded batches are buffers of
 * megabytes which one thread makes and another frees. Left to itself glibc takes them out of heaps
 * of its own, one a thread, as soon as a few were freed, and the places between what is in use grow
 * to 100 to 180 MB that nothing holds.
 */

/** See mallopt(3). A setting switches off that thresholds follow the sizes which are freed. */
const settings: Readonly<Record<string, string>> = {
  // From here on a buffer is a mapping of its own, given back when it is freed: 0.3 s of the
  // system's time for 340 MB of answers.
  MALLOC_MMAP_THRESHOLD_: String(1 << 20),
  MALLOC_TRIM_THRESHOLD_: String(1 << 20),
  // Threads that compile and collect had 8 MB each that they used once.
  MALLOC_ARENA_MAX: '2',
}

/** Says that this start is the second one. */
const mark = 'MILLRACE_ALLOCATOR'

/**
 * The settings are read when a process starts and never again, so the program starts itself again
 * in the same process (same id, same streams). An operator who sets anything of the allocator
 * decides all of it; where a second start cannot be made, the program goes on and takes more
 * memory.
 */
export function applyAllocatorSettings(): void {
  if (process.env[mark]) {
    forgetSettings()
    return
  }
  // A second start would have lost the channel to a parent, and fail for it.
  if (process.platform !== 'linux' || process.connected) return
  if (Object.keys(process.env).some((name) => name.startsWith('MALLOC_') || name === 'GLIBC_TUNABLES')) return
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  try {
    process.execve?.(process.execPath, args, { ...process.env, ...settings, [mark]: '1' })
  } catch {
    // Forbidden here, as by Node's permission model.
  }
}

/** The engines, which inherit the environment, know better what suits them. */
function forgetSettings(): void {
  for (const name of [mark, ...Object.keys(settings)]) delete process.env[name]
}
