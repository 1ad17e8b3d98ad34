import { failure } from '#errors.ts'

/** A worker thread died while it decoded, or the pool was closed under it. */
export class DecodeWorkerError extends failure('DecodeWorkerError', 'decode_worker_lost', 'retry') {
  readonly fromBlock: number
  readonly toBlock: number

  constructor(fromBlock: number, toBlock: number, options: ErrorOptions) {
    super(`the worker decoding blocks ${fromBlock} to ${toBlock} is lost`, options)
    this.fromBlock = fromBlock
    this.toBlock = toBlock
  }
}
