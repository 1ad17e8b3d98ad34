/** A payer of a market, with an account and a network address of its own, which keeps what it has signed. */
import { randomUUID } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { DEV_CHAIN_ID } from '#local/devchain/devChainRecord.ts'
import type { Plan } from '#orchestrator/plan/plan.ts'
import { payer } from '../../payments/support/shop.ts'
import { until } from './millrace.ts'

/** A request. */
interface Asked {
  readonly path: string
  readonly init: RequestInit
}

/** An answer that came in full. */
interface Answer {
  readonly status: number
  /** Which program gave it. */
  readonly origin: string
  /** Larger than those of earlier ones. */
  readonly at: number
  /** It says that it is paid for: a job is told before as well. */
  readonly hasReceipt: boolean
  readonly body: Record<string, unknown>
}

/** A payment that was signed for a request. */
export interface Signed extends Asked {
  readonly credential: string
  /** In the token's smallest unit. */
  readonly amount: bigint
  readonly answers: Answer[]
}

/** Its outcome is known: paid for, or not and never any more. */
export const isDecided = ({ answers }: Signed): boolean => {
  const last = answers.at(-1)
  return last !== undefined && (last.status === 402 || isOfPaid(last))
}

export const isPaid = ({ answers }: Signed): boolean => answers.some(isOfPaid)

/** 403: it was answered before. */
const isOfPaid = ({ status, hasReceipt }: Answer): boolean => hasReceipt || status === 403

/** Which job its payer was told of. */
export const jobIdsIn = ({ answers }: Signed): readonly string[] => {
  const told = answers.map(({ body }) => body['jobId'])
  return [...new Set(told.filter((jobId) => typeof jobId === 'string'))]
}

let answers = 0
let addresses = 0
/** Each has a quota of its own. */
export const newAddress = (): string => {
  addresses++
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`
}

export class MarketPayer {
  readonly account = privateKeyToAccount(generatePrivateKey())
  readonly address = this.account.address.toLowerCase()
  readonly signed: Signed[] = []
  readonly #networkAddress = newAddress()
  #client: ReturnType<typeof payer>

  constructor(rpcUrl: string) {
    this.#client = this.#clientOf(rpcUrl)
  }

  /** A node that has ended begins anew at another address. */
  connect(rpcUrl: string): void {
    this.#client = this.#clientOf(rpcUrl)
  }

  /** Ids of those that it bought. */
  get jobs(): readonly string[] {
    const told = this.signed.filter(isPaid).flatMap(jobIdsIn)
    return [...new Set(told)]
  }

  /** Signs what a read costs. Null where the program ended before. */
  read(origin: string, path = '/v1/blocks?limit=5'): Promise<Signed | null> {
    return this.#sign(origin, { path, init: {} })
  }

  /** The same of a job. */
  order(origin: string, plan: Plan): Promise<Signed | null> {
    const body = JSON.stringify({ idempotencyKey: randomUUID(), plan })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    return this.#sign(origin, { path: '/v1/jobs', init })
  }

  /** Null where the program ended before its answer did. */
  async send(origin: string, signed: Signed): Promise<Answer | null> {
    const { path, init, credential } = signed
    const headers = { ...this.#headersOf(init), authorization: credential }
    const answer = await answerTo(origin, fetch(origin + path, { ...init, headers }))
    if (answer) signed.answers.push(answer)
    return answer
  }

  /** Rates all calls of a job, and proves to have bought it. Null as above. */
  async review(origin: string, jobId: string): Promise<Answer | null> {
    const job = await readJob(origin, jobId)
    const runs: { nodeId: string; attempts: unknown[] }[] = Object(job?.body)['runs'] ?? []
    const called = runs.filter(({ attempts }) => attempts.length > 0)
    const tools = called.map(({ nodeId }) => ({ nodeId, rating: 4 }))
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': newAddress() },
      body: JSON.stringify({ rating: 4, tools }),
    }
    return answerTo(origin, this.#client.fetch(`${origin}/v1/jobs/${jobId}/feedback`, init))
  }

  async #sign(origin: string, asked: Asked): Promise<Signed | null> {
    const challenged = await this.#challenged(origin, asked)
    if (!challenged) return null
    const payment = await this.#client.preparePayment(challenged)
    const credential = await payment.createCredential()
    const amount = BigInt(String(payment.challenge.request['amount']))
    const signed = { ...asked, credential, amount, answers: [] }
    this.signed.push(signed)
    return signed
  }

  /** Past the quota, once something is sold. */
  async #challenged(origin: string, { path, init }: Asked): Promise<Response | null> {
    let challenged: Response | null = null
    await until(async () => {
      const asked = fetch(origin + path, { ...init, headers: this.#headersOf(init) })
      const answer = await unlessEnded(asked.then(async (one) => ({ one, text: await one.text() })))
      if (!answer) return true
      const { one, text } = answer
      if (one.status === 400) throw new Error(text)
      if (one.status === 402) challenged = new Response(text, one)
      return one.status === 402
    })
    return challenged
  }

  #clientOf(rpcUrl: string): ReturnType<typeof payer> {
    return payer(this.account, { rpcUrl, chainId: DEV_CHAIN_ID })
  }

  #headersOf({ headers }: RequestInit): Record<string, string> {
    return { ...Object.fromEntries(new Headers(headers)), 'x-forwarded-for': this.#networkAddress }
  }
}

export const readJob = (origin: string, jobId: string): Promise<Answer | null> =>
  readAs(origin, `/v1/jobs/${jobId}?include=runs`)

export const readReview = (origin: string, jobId: string): Promise<Answer | null> =>
  readAs(origin, `/v1/jobs/${jobId}/feedback`)

const readAs = (origin: string, path: string): Promise<Answer | null> =>
  answerTo(origin, fetch(origin + path, { headers: { 'x-forwarded-for': newAddress() } }))

const answerTo = (origin: string, asked: Promise<Response>): Promise<Answer | null> =>
  unlessEnded(
    asked.then(async (answer) => {
      const text = await answer.text()
      const body = JSON.parse(text === '' ? '{}' : text)
      const hasReceipt = answer.headers.has('payment-receipt')
      return { status: answer.status, hasReceipt, origin, at: answers++, body }
    }),
  )

/** The words of undici on a connection whose program was killed, and on one to a program that is gone. */
const endings: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** Null where the connection ended before the answer did. */
async function unlessEnded<Told>(asked: Promise<Told>): Promise<Told | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof TypeError && endings.has(Object(error.cause).code)) return null
    throw error
  }
}
