/** A facilitator over HTTP, the library's own behind it, that answers as it is told to. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Egress } from '#egress/Egress.ts'
import type { LocalFacilitator } from '#payments/methods/x402/LocalFacilitator.ts'
import { RemoteFacilitator } from '#payments/methods/x402/RemoteFacilitator.ts'
import { NETWORK } from './secondChain.ts'

/**
 * How it settles:
 * - `well`: it sends, and says so;
 * - `deaf`: it sends, and the connection breaks before it says so;
 * - `late`: it takes it on (202) and sends it once `finish` is called;
 * - `never`: it answers nothing and sends nothing;
 * - `liar`: it says that it sent, and did not;
 * - `denies`: it sends, and says that it failed;
 * - `twice`: it sends, and sends again before it answers.
 */
export type Manner = 'well' | 'deaf' | 'late' | 'never' | 'liar' | 'denies' | 'twice'

/** A caller gives up after so long. */
const PATIENCE_MS = 700

export async function startOddFacilitator(local: LocalFacilitator) {
  const state: { manner: Manner; settles: number; finish: () => Promise<unknown> } = {
    ...{ manner: 'well', settles: 0 },
    finish: async () => {},
  }
  const server = createServer((request, response) => void answer(request, response, local, state))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const egress = new Egress()
  const impatient: Pick<Egress, 'fetch'> = {
    fetch: (asked) =>
      egress.fetch({
        ...asked,
        // The other ways end by an answer, and a machine under load is slow.
        ...(state.manner === 'never' && { signal: AbortSignal.timeout(PATIENCE_MS) }),
      }),
  }
  const facilitator = new RemoteFacilitator({ url: `http://127.0.0.1:${port}/`, egress: impatient })
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { state, facilitator, close }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  local: LocalFacilitator,
  state: { manner: Manner; settles: number; finish: () => Promise<unknown> },
): Promise<void> {
  const say = (told: unknown, status = 200) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(told))
  }
  if (request.url === '/supported')
    return say({
      kinds: [{ x402Version: 2, scheme: 'exact', network: NETWORK }],
      extensions: [],
      signers: {},
    })
  const { paymentPayload, paymentRequirements } = JSON.parse(await text(request))
  if (request.url === '/verify') {
    const invalidReason = await local.verify(paymentPayload, paymentRequirements)
    return say(invalidReason === null ? { isValid: true } : { isValid: false, invalidReason })
  }
  state.settles++
  const settle = async () => {
    const settled = await local.settle(paymentPayload, paymentRequirements)
    return settled === 'unsent' ? '' : (settled.txHash ?? '')
  }
  const succeeded = (transaction: string) => say({ success: true, transaction, network: NETWORK })
  const manners: Record<Manner, () => Promise<unknown>> = {
    well: async () => succeeded(await settle()),
    deaf: async () => {
      await settle()
      response.destroy()
    },
    late: async () => {
      state.finish = settle
      say({ paymentId: 'later' }, 202)
    },
    never: async () => {},
    liar: async () => succeeded(`0x${'ab'.repeat(32)}`),
    denies: async () => {
      await settle()
      say({ success: false, errorReason: 'unexpected_error', transaction: '', network: NETWORK })
    },
    twice: async () => {
      const first = await settle()
      await settle()
      succeeded(first)
    },
  }
  await manners[state.manner]()
}
