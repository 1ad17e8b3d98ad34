/** A node that obeys, is gone or repeats what it was sent, and the search for secrets in all that is told. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { expect } from 'vitest'
import type { AppDatabase } from '#rows/database.ts'

export type NodeState = 'up' | 'gone' | 'loud'

const jsonBody = { 'content-type': 'application/json' }

/** A node's answer instead of the other; it breaks the connection if that is `gone`. */
export type Order = (method: string) => { readonly code: number; readonly message: string } | 'gone' | null

/** Stands before a node. `gone` answers 500, `loud` refuses what is sent or tried out, and repeats it. */
export async function startOddNode(rpcUrl: string) {
  const wire: { state: NodeState; order: Order } = { state: 'up', order: () => null }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    const { id, method } = JSON.parse(body)
    if (wire.state === 'gone') return void response.writeHead(500).end(body)
    const ordered = wire.order(String(method))
    if (ordered === 'gone') return void request.socket.destroy()
    if (ordered) return void response.end(JSON.stringify({ jsonrpc: '2.0', id, error: ordered }))
    const isSent = /send|call|estimate|fill/i.test(String(method))
    if (wire.state === 'loud' && isSent) {
      const error = { code: -32_000, message: `not taken: ${body}`, data: body }
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
    }
    const answer = await fetch(rpcUrl, { method: 'POST', body, headers: jsonBody })
    response.end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { wire, rpcUrl: `http://127.0.0.1:${port}`, close: () => server.close() }
}

/** Vouchers pay channels out, payouts are signed before they are sent; keys of the service are sealed. */
const meantToHold = new Set(['channels', 'payout_transactions', 'secrets'])

/** Every row of the service's own, but for those that are meant to hold what is signed. */
async function storedTexts(app: AppDatabase): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'app' AND table_type = 'BASE TABLE'`.execute(app)
  const names = tables.map(({ name }) => name)
  for (const name of meantToHold) expect(names).toContain(name)
  const texts: string[] = []
  for (const name of names.filter((table) => !meantToHold.has(table))) {
    const { rows } = await sql<{ row: string }>`
      SELECT row_to_json(t)::text AS row FROM ${sql.table(`app.${name}`)} t`.execute(app)
    texts.push(...rows.map(({ row }) => row))
  }
  expect(texts.length).toBeGreaterThan(0)
  return texts.join('\n').toLowerCase()
}

/** @param told lines of logs, and answers */
export async function assertKept(
  app: AppDatabase,
  secrets: readonly string[],
  told: readonly string[],
): Promise<void> {
  const places = { told: told.join('\n').toLowerCase(), rows: await storedTexts(app) }
  for (const secret of secrets.map((each) => each.replace(/^0x/, '').toLowerCase())) {
    expect(secret.length).toBeGreaterThan(16)
    for (const [where, text] of Object.entries(places)) {
      const at = text.indexOf(secret)
      expect(at < 0 ? null : { where, around: text.slice(Math.max(0, at - 200), at + 60) }).toBeNull()
    }
  }
}
