/** `millrace prove receipt`. */
import { readFileSync, statSync } from 'node:fs'
import { SettingError } from '#errors.ts'
import { type Verified, verifyReceipt } from '#orchestrator/receipt/verifyReceipt.ts'

/** A hundred nodes with their purchases, and paths of two large transactions. */
const RECEIPT_BYTES_MAX = 16 * 1_024 * 1_024

/** False where any of it does not hold. @throws SettingError for a file that cannot be read */
export function proveReceipt(path: string, key: string | null, asJson: boolean): boolean {
  const verified = verifyReceipt(textOf(path), key)
  const { receipt, problems } = verified
  const holds = problems.length === 0
  const report = { holds, jobId: receipt?.job.jobId ?? null, key: receipt?.key.kid ?? null, problems }
  const told = asJson ? [JSON.stringify(report)] : linesOf(verified, key)
  process.stdout.write(`${told.join('\n')}\n`)
  return holds
}

function linesOf({ receipt, problems }: Verified, key: string | null): readonly string[] {
  if (!receipt || problems.length > 0)
    return problems.map(({ part, problem }) => `WRONG  ${part}: ${problem}`)
  const { job, settlement, transfer } = receipt
  const paid = settlement
    ? `${settlement.amount} of ${settlement.token} on chain ${settlement.chainId}, ${settlement.finality}`
    : 'nothing'
  const proved = transfer
    ? `block ${transfer.blockNumber}, ${transfer.blockHash}`
    : 'not in this receipt: ask for another one once its block is final'
  const isNamed =
    key === null
      ? 'compare it with /v1/receipt-keys of who sold it, or name it by --key'
      : 'the one you named'
  return [
    `job      ${job.jobId}, ${job.status}`,
    `plan     ${job.planHash}`,
    `outputs  ${receipt.nodes.filter(({ outputDigest }) => outputDigest !== null).length} of ${receipt.nodes.length} nodes`,
    `paid     ${paid}`,
    ...(settlement?.transactionHash ? [`proof    ${proved}`] : []),
    `key      ${receipt.key.kid}: ${isNamed}`,
    'All of it holds.',
  ]
}

/** @throws SettingError */
function textOf(path: string): string {
  if (sizeOf(path) > RECEIPT_BYTES_MAX) throw new SettingError('file', 'is larger than any receipt')
  return readFileSync(path, 'utf8')
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch (error) {
    throw new SettingError('file', `${path} cannot be read`, { cause: error })
  }
}
