/** Says whether ClickHouse is being read: the lane that writes it hurries for readers alone. */
export class ReadDemand {
  #isAsked = false

  /** Somebody asks what ClickHouse holds of this chain. */
  ask(): void {
    this.#isAsked = true
  }

  /** True when somebody asked since the last call. */
  take(): boolean {
    const isAsked = this.#isAsked
    this.#isAsked = false
    return isAsked
  }
}
