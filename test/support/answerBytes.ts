/** The bytes that a node would send: those of a batch response, made of the results in it. */
import type { BlockAnswer } from '#ingest/read/parsedAnswer.ts'

/** The bytes of a RawRange. */
export function answerBytes(answers: readonly BlockAnswer[]): Uint8Array<ArrayBuffer> {
  const items = answers.flatMap(({ block, receipts }, k) => [
    { jsonrpc: '2.0', id: 2 * k, result: block },
    { jsonrpc: '2.0', id: 2 * k + 1, result: receipts },
  ])
  return new TextEncoder().encode(JSON.stringify(items))
}
