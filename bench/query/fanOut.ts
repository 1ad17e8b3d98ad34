/** Many readers of one live query, and when what they read was committed. */
import { type ClientRequest, request } from 'node:http'
import pg from 'pg'
import { schemaOf } from '#store/sql.ts'
import { chainId } from '../program.ts'

export interface Frame {
  readonly block: number
  /** Unix milliseconds of its last byte's arrival. */
  readonly atMs: number
}

export interface Readers {
  /** Results of all readers, as they come. */
  readonly frames: readonly Frame[]
  close(): void
}

/** Connections opened at once. */
const OPENED_TOGETHER = 50

/** Resolves when every reader has been told where its stream begins. */
export async function openReaders(address: string, count: number, sql: string): Promise<Readers> {
  const frames: Frame[] = []
  const requests: ClientRequest[] = []
  const url = `${address}/v1/indexer/query?live=true&sql=${encodeURIComponent(sql)}`
  while (requests.length < count) {
    const next = Math.min(OPENED_TOGETHER, count - requests.length)
    const opened = Array.from({ length: next }, () => openReader(url, (frame) => frames.push(frame)))
    requests.push(...(await Promise.all(opened)))
  }
  return {
    frames,
    close: () => {
      for (const one of requests) one.destroy()
    },
  }
}

function openReader(url: string, read: (frame: Frame) => void): Promise<ClientRequest> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent: false }, (stream) => {
      if (stream.statusCode !== 200) reject(new Error(`a reader was answered ${stream.statusCode}`))
      let text = ''
      stream.setEncoding('latin1')
      stream.on('data', (chunk: string) => {
        text += chunk
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const [, block] = /^event: result\n[\s\S]*"blocks":\[\{"num":(\d+)/.exec(text.slice(0, end)) ?? []
          if (block !== undefined) read({ block: Number(block), atMs: Date.now() })
          if (text.startsWith('event: progress')) resolve(asked)
          text = text.slice(end + 2)
        }
      })
      stream.on('error', () => {})
    })
    asked.on('error', reject)
    asked.end()
  })
}

/**
 * When each block from `from` on was written to the log of its transaction: some moments before the
 * commit itself. Unix milliseconds.
 */
export async function readCommitMoments(
  databaseUrl: string,
  from: number,
): Promise<ReadonlyMap<number, number>> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ from_block: string; to_block: string; at_ms: number }>(
    `SELECT from_block, to_block, (extract(epoch FROM committed_at) * 1000)::float8 AS at_ms
     FROM ${schemaOf(chainId)}.commits WHERE kind = 'append' AND to_block >= $1 ORDER BY seq`,
    [from],
  )
  await client.end()
  const moments = new Map<number, number>()
  for (const { from_block, to_block, at_ms } of rows)
    for (let block = Number(from_block); block <= Number(to_block); block++) moments.set(block, at_ms)
  return moments
}
