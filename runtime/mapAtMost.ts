/**
 * Work that is done some at a time: how many requests, builds or loads may be under way together.
 */
import PQueue from 'p-queue'

/**
 * Maps in order with at most `width` under way. After a failure nothing more is begun, and the
 * signal that each act is given is aborted.
 * @throws the first failure, once nothing is under way
 */
export async function mapAtMost<T, R>(
  width: number,
  items: readonly T[],
  act: (item: T, signal: AbortSignal) => Promise<R>,
  signal?: AbortSignal,
): Promise<readonly R[]> {
  const queue = new PQueue({ concurrency: width })
  const failed = new AbortController()
  const either = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
  const results: R[] = []
  const actOn = async (item: T, index: number) => {
    if (failed.signal.aborted) return
    try {
      results[index] = await act(item, either)
    } catch (error) {
      failed.abort(error)
    }
  }
  // Not the promises of `add`: the next of the queue begins before they tell of a failure.
  for (const [index, item] of items.entries()) void queue.add(() => actOn(item, index))
  await queue.onIdle()
  failed.signal.throwIfAborted()
  return results
}
