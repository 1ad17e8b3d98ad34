/** The names of tokens, as answers are given them. */

/** People's name of a token, and the meaning of its amounts. */
export interface TokenName {
  readonly name: string
  readonly symbol: string
  /** The currency that the token stands for, such as USD. */
  readonly currency: string
  /** Null where nobody knows. */
  readonly decimals: number | null
  readonly logoUri: string | null
  /** Whether it is on the operator's list. */
  readonly verified: boolean
}

/** Names of tokens, for many answers at once. */
export interface TokenNames {
  /** The names known, by lowercase address; a token without one is not in the map. */
  read(
    chainId: number,
    tokens: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, TokenName>>
}
