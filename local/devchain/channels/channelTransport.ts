/**
 * To a dev chain, for whoever sends transactions that open channels or add to them: what Tempo does
 * by itself is done for them first.
 */
import { Session } from 'mppx/tempo'
import { custom, decodeFunctionData, http, type Transport } from 'viem'
import { Transaction } from 'viem/tempo'
import { type DevRpc, field } from '../DevRpc.ts'
import { allowChannels, CHANNEL_ESCROW, tellOpening } from './escrow.ts'

type Hex = `0x${string}`

const { escrowAbi, Channel } = Session.Precompile

const SENT = new Set(['eth_sendRawTransaction', 'eth_sendRawTransactionSync'])
const TRIED = new Set(['eth_call', 'eth_estimateGas', 'eth_fillTransaction'])

export function channelTransport(rpc: DevRpc): Transport {
  const inner = http(rpc.url, { retryCount: 0 })({})
  const request = async ({ method, params }: { method: string; params?: unknown }) => {
    const [sent] = Array.isArray(params) ? params : []
    if (SENT.has(method) && typeof sent === 'string') await prepareSent(rpc, sent)
    if (TRIED.has(method)) await prepareTried(rpc, sent)
    const ask: (asked: { method: string; params?: unknown }) => Promise<unknown> = inner.request
    return ask({ method, ...(params !== undefined && { params }) })
  }
  return custom({ request }, { retryCount: 0 })
}

async function prepareSent(rpc: DevRpc, serialized: string): Promise<void> {
  if (!isTempoTransaction(serialized)) return
  const transaction = Transaction.deserialize(serialized)
  const { calls, from: payer, feePayerSignature } = transaction
  if (!payer) return
  for (const deposit of depositsIn(calls)) {
    await allowChannels(rpc, payer, deposit.token)
    if (deposit.salt === null) continue
    const signed = Channel.transactionForExpiringNonceHash({
      ...(feePayerSignature !== undefined && { feePayer: true }),
      transaction,
    })
    const hash = Channel.computeExpiringNonceHash(signed, { sender: payer })
    await tellOpening(rpc, { payer, salt: deposit.salt, hash })
  }
}

async function prepareTried(rpc: DevRpc, request: unknown): Promise<void> {
  const [payer, calls] = [field(request, 'from'), field(request, 'calls')]
  if (!isHex(payer)) return
  for (const { token } of depositsIn(Array.isArray(calls) ? calls : [request]))
    await allowChannels(rpc, payer, token)
}

/** The deposits that calls pay into channels: the token, and the salt of a channel that is new. */
function depositsIn(calls: readonly unknown[] = []): { readonly token: Hex; readonly salt: Hex | null }[] {
  return calls.flatMap((call) => {
    const [to, data] = [field(call, 'to'), field(call, 'data') ?? field(call, 'input')]
    if (!isHex(to) || to.toLowerCase() !== CHANNEL_ESCROW || !isHex(data)) return []
    try {
      const { functionName, args } = decodeFunctionData({ abi: escrowAbi, data })
      if (functionName === 'open') return { token: args[2], salt: args[4] }
      return functionName === 'topUp' ? { token: args[0].token, salt: null } : []
    } catch {
      return []
    }
  })
}

const isHex = (value: unknown): value is Hex => typeof value === 'string' && value.startsWith('0x')

const isTempoTransaction = (value: string): value is `0x76${string}` => value.startsWith('0x76')
