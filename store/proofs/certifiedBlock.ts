/** A final block with what proves it to somebody who has no node: a certificate, headers up to it. */

/** Texts are lowercase hex. */
export interface CertifiedBlock {
  readonly chainId: number
  /** The certificate as validators signed it. */
  readonly certificate: string
  readonly epoch: number
  readonly view: number
  /** The block that the certificate is of. */
  readonly blockNumber: number
  readonly blockHash: string
  /**
   * The headers that hash to the hash of each block, from the proved block up to the certificate's: each
   * one holds the hash of the one before.
   */
  readonly headers: readonly string[]
}

/** Headers of one proof: as many as an epoch of Tempo's networks has blocks. */
export const CERTIFIED_HEADERS_MAX = 21_600
/** Bytes of them together: Tempo's have some 650, and `extraData` of an epoch's last one some thousands. */
export const CERTIFIED_BYTES_MAX = 20 * 1_024 * 1_024
