import { setFlagsFromString } from 'node:v8'

/**
 * By itself V8 walks the whole heap whenever buffers outside it have grown by 64 MB, which loading
 * does every second, although nearly all of them are given back at once. Counted as part of the
 * heap they move the next collection by what was kept.
 */
export function countBuffersAsHeap(): void {
  setFlagsFromString('--external-memory-accounted-in-global-limit')
}
