/** Receivers that take a webhook and never answer, with the subscriptions of one key to them. */
import { createServer, type Server } from 'node:http'
import type { RunningProgram } from '../program.ts'

/** As many as one organization may have here. */
const SUBSCRIPTIONS = 50

/** Closing the server ends what hangs. @throws when a subscription is refused */
export async function subscribeHanging({ address }: RunningProgram, key: string): Promise<Server> {
  const server = createServer(() => {})
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => {
      const at = server.address()
      resolve(typeof at === 'object' && at !== null ? at.port : 0)
    }),
  )
  for (let index = 0; index < SUBSCRIPTIONS; index++) {
    const url = `http://127.0.0.1:${port}/${index}`
    const answer = await fetch(`${address}/v1/webhooks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'svc-api-key': key },
      body: JSON.stringify({ eventType: 'transaction:included', destination: { type: 'url', url } }),
    })
    if (!answer.ok) throw new Error(`a subscription was answered ${answer.status}: ${await answer.text()}`)
  }
  return server
}
