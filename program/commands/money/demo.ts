/**
 * `millrace demo`: what a stranger's agent does beside a running program on its dev chain, over its
 * public endpoints alone: it searches, has a plan priced, pays, watches, reads, reviews, and is
 * rewarded.
 */
import { randomUUID } from 'node:crypto'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { Mppx, tempo as payByTempo } from 'mppx/client'
import { createClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { tempo } from 'viem/chains'
import { Abis } from 'viem/tempo'
import { failure, SettingError } from '#errors.ts'
import { fundAccount } from '#local/devchain/fundAccount.ts'
import { genesisTokens } from '#local/devchain/genesisAccount.ts'
import { checkBooks, countDifferences } from '#payments/books/checkBooks.ts'
import { isRecord } from '#primitives.ts'
import { appDatabase } from '#rows/database.ts'
import type { Clock, Runtime } from '#runtime/runtime.ts'
import type { Logger } from '#telemetry.ts'
import type { Config } from '../../config.ts'
import { bookedChains } from '../../parts/payments/bookedChains.ts'
import { withDatabases } from '../../stores.ts'
import { findDevChain, type RunningDevChain } from '../operator/devchain.ts'

/** An answer that is not what the walk needs. */
class DemoFailedError extends failure('DemoFailedError', 'demo_failed', 'stop') {}

const QUESTION = 'how long is the day'
/** Each goes on with what the one before answered; the last is worked on in the background. */
const plan = {
  nodes: [
    callOf('place', 'demo-places', '/geocode', { city: 'Paris' }),
    callOf(
      'day',
      'demo-sun',
      '/daylight',
      { latitude: 'flow://place/output#/latitude', date: '2026-06-21' },
      ['place'],
    ),
    callOf('report', 'demo-reports', '/reports', { title: 'Daylight', facts: 'flow://day/output' }, ['day']),
  ],
}

function callOf(id: string, serviceId: string, path: string, input: object, dependsOn: string[] = []) {
  return { id, serviceId, method: 'POST', path, input, dependsOn }
}

/** The longest that a job or a reward is waited for. */
const WAIT_MS = 120_000
const LOOK_MS = 500

interface Walk {
  readonly origin: string
  readonly write: (line: string) => void
  readonly clock: Clock
  readonly stop: AbortSignal
}

interface Payer {
  readonly account: `0x${string}`
  /** Answers a 402 with a payment. */
  readonly pay: typeof fetch
  /** Its balance of the token that plans are paid in, in its smallest unit. */
  readonly balance: () => Promise<bigint>
}

/** Prints each request, the money, and the books. False where the books are not right. */
export async function runDemo(
  config: Config,
  runtime: Runtime,
  log: Logger,
  stop: AbortSignal,
): Promise<boolean> {
  const chain = await findDevChain(config)
  const origin = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
  const write = (line: string) => void process.stdout.write(`${line}\n`)
  const walk = { origin, write, clock: runtime.clock, stop }
  const payer = await openPayer(chain)
  write(`A new account, ${payer.account}, with ${dollarsOf(await payer.balance())} of pathUSD.`)
  await search(walk)
  await quote(walk)
  const jobId = await buy(walk, payer)
  await watch(walk, jobId)
  await readResult(walk, jobId)
  await review(walk, jobId, payer)
  write(`\nThe account has ${dollarsOf(await payer.balance())} of pathUSD.`)
  return tellBooks(config, runtime, log, write)
}

async function openPayer(chain: RunningDevChain): Promise<Payer> {
  const account = privateKeyToAccount(generatePrivateKey())
  const client = createClient({
    ...{ account, chain: { ...tempo, id: chain.chainId } },
    transport: http(chain.rpcUrl),
  })
  await fundAccount(chain, account.address)
  const { readContract } = await import('viem/actions')
  const balance = () =>
    readContract(client, {
      ...{ abi: Abis.tip20, address: genesisTokens.pathUSD },
      ...{ functionName: 'balanceOf', args: [account.address] },
    })
  const methods = [payByTempo({ account, getClient: () => client })]
  return { account: account.address, balance, pay: Mppx.create({ polyfill: false, methods }).fetch }
}

async function search(walk: Walk): Promise<void> {
  const { body } = await send(
    walk,
    'GET',
    `/v1/services/search?query=${encodeURIComponent(QUESTION)}&limit=3`,
  )
  for (const { serviceId, serviceName, path } of recordsIn(body['endpoints']))
    walk.write(`      ${serviceId} ${path}: ${serviceName}`)
}

async function quote(walk: Walk): Promise<void> {
  const { body } = await send(walk, 'POST', '/v1/quote', { body: plan })
  walk.write(`      ${plan.nodes.length} calls for ${body['totalAmount']} ${body['currency']}`)
}

async function buy(walk: Walk, payer: Payer): Promise<string> {
  const order = { idempotencyKey: randomUUID(), plan }
  const offered = await send(walk, 'POST', '/v1/jobs', { body: order, expected: 402 })
  const asked = offered.headers.get('www-authenticate')?.matchAll(/method="(\w+)", intent="(\w+)"/g) ?? []
  const ways = new Set([...asked].map(([, method, intent]) => `a ${intent} on ${method}`))
  walk.write(`      to be paid by ${[...ways].join(' or ')}`)
  const before = await payer.balance()
  const { body, headers } = await send(walk, 'POST', '/v1/jobs', { body: order, by: payer.pay })
  const receipt = headers.get('payment-receipt')
  if (receipt === null)
    throw new DemoFailedError('the payment has no receipt yet: ask again with the same key')
  const { reference } = Object(JSON.parse(Buffer.from(receipt, 'base64url').toString()))
  walk.write(`      job ${body['jobId']}, paid by ${reference}`)
  walk.write(`      ${dollarsOf(before - (await payer.balance()))} of pathUSD left the account`)
  return String(body['jobId'])
}

/** As its events tell it, until it has ended. */
async function watch(walk: Walk, jobId: string): Promise<void> {
  const path = `/v1/jobs/${jobId}/events`
  walk.write(`\nGET   ${path}`)
  const signal = AbortSignal.any([walk.stop, AbortSignal.timeout(WAIT_MS)])
  const answer = await ask(walk, path, { signal })
  const events = answer.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const { event, data } of events ?? []) {
    const told = Object(JSON.parse(data))
    walk.write(`      ${event === 'node' ? told.nodeId : 'the job'}: ${told.state}`)
  }
}

async function readResult(walk: Walk, jobId: string): Promise<void> {
  const { body } = await send(walk, 'GET', `/v1/jobs/${jobId}`)
  const { status, usage, result } = Object(body)
  walk.write(`      ${status}; it cost ${usage?.committed} ${usage?.currency}`)
  walk.write(`      report: ${JSON.stringify(result?.report)}`)
  if (status !== 'succeeded') throw new DemoFailedError(`the job ended as ${status}`)
}

async function review(walk: Walk, jobId: string, payer: Payer): Promise<void> {
  const tools = plan.nodes.map(({ id }) => ({ nodeId: id, rating: 5 }))
  const given = { rating: 5, comment: 'Did what it said.', tools }
  const path = `/v1/jobs/${jobId}/feedback`
  // The payer proves himself by a charge of zero.
  const { body } = await send(walk, 'POST', path, {
    body: given,
    by: payer.pay,
    adding: 'a proof of the payer',
    expected: 201,
  })
  const { status, reason, amount, currency } = Object(body['reward'])
  if (status === 'ineligible') {
    walk.write(`      no reward: ${reason}`)
    if (reason === 'insufficient_workflow_spend')
      walk.write(
        '      jobs earn nothing here: start the program with COST_MULTIPLIER=1.1, of which a half is rewarded after fees',
      )
    return
  }
  walk.write(`      a reward of ${amount} ${currency} is ${status}`)
  const untilMs = walk.clock.monotonic() + WAIT_MS
  for (;;) {
    const reward = Object(JSON.parse(await (await ask(walk, path)).text()).reward)
    if (reward.status === 'paid') return walk.write(`      paid by ${reward.transactionHash}`)
    // Where the job earned less than a transfer costs, it may be for long.
    if (walk.clock.monotonic() > untilMs)
      return walk.write(
        '      it waits for a refund or more rewards to the account, which pay for the transfer',
      )
    await walk.clock.sleep(LOOK_MS, walk.stop)
  }
}

async function tellBooks(
  config: Config,
  runtime: Runtime,
  log: Logger,
  write: Walk['write'],
): Promise<boolean> {
  const { isRight, ...found } = await withDatabases(config, runtime, log, async ({ postgres }) =>
    checkBooks(appDatabase(postgres), await bookedChains(config, postgres)),
  )
  write(
    isRight
      ? 'The books are right to the unit: millrace books check.'
      : `The books are not right (${countDifferences(found)} differences): see millrace books check.`,
  )
  return isRight
}

interface Sending {
  readonly body?: unknown
  readonly by?: typeof fetch
  /** Added by that; a payment unless it is given. */
  readonly adding?: string
  /** 200 unless it is given. */
  readonly expected?: number
}

/** Prints the request and its status. @throws DemoFailedError for another than is expected */
async function send(
  walk: Walk,
  method: string,
  path: string,
  { body, by, adding = 'a payment', expected = 200 }: Sending = {},
): Promise<{ readonly body: Readonly<Record<string, unknown>>; readonly headers: Headers }> {
  const headers = { 'content-type': 'application/json' }
  const init = body === undefined ? {} : { method, headers, body: JSON.stringify(body) }
  const answer = await ask(walk, path, init, by)
  const text = await answer.text()
  walk.write(`\n${method.padEnd(5)} ${path}  ${answer.status}${by ? `, with ${adding}` : ''}`)
  if (answer.status !== expected) throw new DemoFailedError(`${path} answers ${answer.status}: ${text}`)
  const told: unknown = JSON.parse(text)
  return { body: isRecord(told) ? told : {}, headers: answer.headers }
}

/** @throws SettingError where no program answers */
async function ask({ origin, stop }: Walk, path: string, init: RequestInit = {}, by: typeof fetch = fetch) {
  try {
    return await by(`${origin}${path}`, { signal: stop, ...init })
  } catch (cause) {
    if (stop.aborted || by !== fetch) throw cause
    throw new SettingError('PORT', `no Millrace answers at ${origin}`, { cause })
  }
}

const recordsIn = (value: unknown) => (Array.isArray(value) ? value.filter(isRecord) : [])

/** Six decimals, as pathUSD has. */
const dollarsOf = (units: bigint): string => {
  const text = `${units}`.padStart(7, '0')
  return `${text.slice(0, -6)}.${text.slice(-6)}`
}
