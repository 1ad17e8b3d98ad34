/**
 * Reads that are paid for, against the same by key. A charge waits for its block, so the server's CPU
 * is compared; a voucher is signed for each read and waits for nothing.
 */
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { openSession } from '#test/payments/support/sessions.ts'
import { accountOf, payer } from '#test/payments/support/shop.ts'
import { type Line, median } from '../harness.ts'
import type { RunningServer } from '../lists/server.ts'

const rounds = 3
const payers = 8
const seconds = { charge: 6, voucher: 2 } as const

export interface PaidReads {
  readonly rpcUrl: string
  readonly chainId: number
  readonly keyed: RunningServer
  /** Sells by charges alone. */
  readonly selling: RunningServer
  readonly inSessions: RunningServer
  /** A key whose quota is not spent, and one whose quota is. */
  readonly rich: string
  readonly poor: string
  readonly paths: readonly string[]
}

export async function paidLines(given: PaidReads): Promise<Line[]> {
  const { rpcUrl, chainId, keyed, selling, inSessions, rich, poor, paths } = given
  const node = new DevRpc(rpcUrl)
  await node.call('evm_setIntervalMining', 1)
  // Payments are valid by the clock of the newest block, and that of block 0 stands at 1970.
  await node.call('evm_mine')
  const chain = { rpcUrl, chainId }
  // Clients write into what they are given.
  const spent = () => ({ headers: { 'svc-api-key': poor } })
  const chargers = Array.from({ length: payers }, (_, index) => payer(accountOf(1 + index), chain))
  const sessions = Array.from({ length: payers }, (_, index) => openSession(1 + index, chain).manager)
  const pathOf = (index: number) => paths[index % paths.length] ?? '/'
  const byKey: Read = (_, index) =>
    fetch(`${keyed.url}${pathOf(index)}`, { headers: { 'svc-api-key': rich } })
  const byCharge: Read = async (by, index) =>
    chargers[by]?.fetch(`${selling.url}${pathOf(index)}`, spent()) ?? absent()
  const byVoucher: Read = async (by, index) =>
    sessions[by]?.fetch(`${inSessions.url}${pathOf(index)}`, spent()) ?? absent()
  // Opens the channels.
  await Promise.all(sessions.map(async (_, by) => assertPaid(await byVoucher(by, by))))
  const taken: Record<'key' | 'charge' | 'voucher', Load[]> = { key: [], charge: [], voucher: [] }
  for (let round = 0; round < rounds; round++) {
    taken.key.push(await load(keyed, byKey, seconds.voucher))
    taken.voucher.push(await load(inSessions, byVoucher, seconds.voucher))
    taken.charge.push(await load(selling, byCharge, seconds.charge))
  }
  await Promise.all(sessions.map((session) => session.close()))
  const rate = (of: readonly Load[]) => median(of.map(({ perSecond }) => perSecond))
  const cpu = (of: readonly Load[]) => median(of.map(({ cpuMs }) => cpuMs))
  const against = `the same by key, by the same clients (${rate(taken.key).toFixed(0)}/s, ${cpu(taken.key).toFixed(2)} ms)`
  return [
    {
      subject: 'a read paid by a voucher: rate, and CPU of the server',
      value: `${((100 * rate(taken.voucher)) / rate(taken.key)).toFixed(0)} % (${rate(taken.voucher).toFixed(0)}/s), ${(cpu(taken.voucher) / cpu(taken.key)).toFixed(1)} times (${cpu(taken.voucher).toFixed(2)} ms)`,
      against,
    },
    {
      subject: 'a read paid by a charge, with its challenge, blocks of a second: CPU of the server',
      value: `${(cpu(taken.charge) / cpu(taken.key)).toFixed(1)} times (${cpu(taken.charge).toFixed(2)} ms; ${rate(taken.charge).toFixed(0)}/s)`,
      against,
    },
  ]
}

/** The read of one of the payers. */
type Read = (by: number, index: number) => Promise<Response>

interface Load {
  readonly perSecond: number
  /** A read. */
  readonly cpuMs: number
}

/** Each payer asks again as soon as it has its answer. */
async function load(server: RunningServer, read: Read, seconds: number): Promise<Load> {
  const [begun, cpu] = [performance.now(), await server.cpuSeconds()]
  let reads = 0
  const ask = async (by: number) => {
    while (performance.now() - begun < seconds * 1_000) await assertPaid(await read(by, reads++))
  }
  await Promise.all(Array.from({ length: payers }, (_, by) => ask(by)))
  const took = performance.now() - begun
  return { perSecond: (reads * 1_000) / took, cpuMs: (1_000 * ((await server.cpuSeconds()) - cpu)) / reads }
}

async function assertPaid(answer: Response): Promise<void> {
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${answer.status}: ${text}`)
}

const absent = (): never => {
  throw new Error('there are as many payers as asked for')
}
