#!/usr/bin/env node
/**
 * The program's entry: how its process is to run, and then the command line, whose code is loaded
 * after that.
 */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { applyAllocatorSettings } from './program/process/allocator.ts'
import { countBuffersAsHeap } from './program/process/externalMemory.ts'
import { endOnSignal } from './program/process/stopSignal.ts'

/** Commands that turn answers into batches, and so fill memory with large buffers. */
const decodingCommands = new Set(['up', 'backfill', 'verify', 'rederive'])

/**
 * Keeps compiled code beside the packages for the next start, for threads and for children: a start
 * took 3.7 CPU s and takes 2.5. Where nothing may be written, nothing is kept.
 */
function keepCompiled(): void {
  const folder = join(import.meta.dirname, 'node_modules/.cache/millrace')
  process.env['NODE_COMPILE_CACHE'] ??= folder
  enableCompileCache(process.env['NODE_COMPILE_CACHE'])
}

/** Started through a Node that could not run it (bin/millrace.mjs), it ends with that one. */
function endWithStarter(): void {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel?.unref()
}

/** citty colours its help wherever it goes. */
function keepPipesPlain(): void {
  if (!process.stdout.isTTY) process.env['NO_COLOR'] ??= '1'
}

endOnSignal(process)
endWithStarter()
keepPipesPlain()
if (decodingCommands.has(process.argv[2] ?? '')) applyAllocatorSettings()
keepCompiled()
countBuffersAsHeap()
await import('./program/commands/commandLine.ts')
