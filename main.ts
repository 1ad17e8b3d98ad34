#!/usr/bin/env node
/** The program's entry: how its process is to run, and then the command line, whose code is loaded after that. */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { applyAllocatorSettings } from './commands/allocator.ts'

/** What turns answers into batches, and so fills memory with large buffers. */
const decodingCommands = new Set(['up', 'backfill', 'verify', 'rederive'])

/**
 * Keeps compiled code beside the packages for the next start, for threads and for children: a start took 3.7 CPU s and takes
 * 2.5. Where nothing may be written, nothing is kept.
 */
function keepCompiled(): void {
  const folder = join(import.meta.dirname, 'node_modules/.cache/millrace')
  process.env['NODE_COMPILE_CACHE'] ??= folder
  enableCompileCache(process.env['NODE_COMPILE_CACHE'])
}

/**
 * By itself V8 walks the whole heap whenever buffers outside it have grown by 64 MB, which loading does every second, although
 * nearly all of them are given back at once. Counted as part of the heap they move the next collection by what was kept.
 */
function countBuffersAsHeap(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit')
}

if (decodingCommands.has(process.argv[2] ?? '')) applyAllocatorSettings()
keepCompiled()
countBuffersAsHeap()
await import('./commands/commandLine.ts')
