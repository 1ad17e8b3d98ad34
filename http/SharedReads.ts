/**
 * Reads of the same thing at the same time are one read: when a block comes, all who watch a list
 * ask for its first page, and the more of them there are the less each costs. Nothing is kept
 * beyond the read itself, so nothing can be out of date.
 */
export class SharedReads<Result> {
  /** As many as requests under way, at most. */
  readonly #underWay = new Map<string, SharedRead<Result>>()

  /**
   * The result of the read of this key that is under way, or of one that begins now. It is aborted
   * when nobody waits for it; each waits only as long as `signal` lets it, which the caller sees
   * to, and without one to the end.
   */
  join(
    key: string,
    signal: AbortSignal | null,
    read: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const joined = this.#underWay.get(key) ?? this.#begin(key, read)
    joined.readers++
    const leave = () => {
      joined.readers--
      if (joined.readers > 0) return
      this.#end(key, joined)
      joined.working.abort(signal?.reason)
    }
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
    return joined.result
  }

  #begin(key: string, read: (signal: AbortSignal) => Promise<Result>): SharedRead<Result> {
    const working = new AbortController()
    const begun: SharedRead<Result> = { working, readers: 0, result: read(working.signal) }
    this.#underWay.set(key, begun)
    const end = () => this.#end(key, begun)
    begun.result.then(end, end)
    return begun
  }

  /** Closes a read to others from now on. */
  #end(key: string, read: SharedRead<Result>): void {
    if (this.#underWay.get(key) === read) this.#underWay.delete(key)
  }
}

interface SharedRead<Result> {
  readonly working: AbortController
  readonly result: Promise<Result>
  readers: number
}
