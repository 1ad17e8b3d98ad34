import { MillraceError } from '#errors.ts'

/** A worker thread died while it decoded, or the pool was closed under it. */
export class DecodeWorkerError extends MillraceError {
  override readonly name = 'DecodeWorkerError'
  readonly code = 'decode_worker_lost'
  readonly remedy = 'retry'
  readonly fromBlock: number
  readonly toBlock: number

  constructor(fromBlock: number, toBlock: number, options: ErrorOptions) {
    super(`the worker decoding blocks ${fromBlock} to ${toBlock} is lost`, options)
    this.fromBlock = fromBlock
    this.toBlock = toBlock
  }
}
