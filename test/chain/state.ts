/**
 * Reads from a node, at one block, the state that an index of all its logs should arrive at:
 * balances, supplies, allowances, open orders, fee pools. Balances that genesis gave without a log
 * come separately.
 */
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { erc20Abi } from 'viem'
import { Abis } from 'viem/tempo'
import { DevRpc, hexQuantity, textField } from '#local/devchain/DevRpc.ts'
import { exchange, feeManager } from '#local/devchain/traffic/calls.ts'
import type { Hex } from '#primitives.ts'
import { endWith, readFlags } from './flags.ts'
import { type Named, readNamed } from './state/named.ts'
import { readView } from './state/readView.ts'

const usage = `usage: node test/chain/state.ts --out file.ndjson.gz [--rpc http://127.0.0.1:8545] [--block latest]`
const flags = readFlags({ rpc: 'http://127.0.0.1:8545', out: '', block: 'latest' }, usage)
if (!flags.out) endWith(usage, 2)

/** Tokens that validators may take fees in are among the first ones seen. */
const VALIDATOR_TOKENS_MAX = 12

const rpc = new DevRpc(flags.rpc)
const last = flags.block === 'latest' ? await rpc.quantity('eth_blockNumber') : Number(flags.block)
const out = createGzip({ level: 9 })
const written = finished(out.pipe(createWriteStream(flags.out)))
const counts: Record<string, number> = {}

const head = await rpc.call('eth_getBlockByNumber', hexQuantity(last), false)
write('block', { number: last, hash: textField(head, 'hash') })
const named = await readNamed(rpc, last)
await writeTokens(named, 0, { supply: 'genesisSupply', balance: 'genesisBalance' })
await writeTokens(named, last, { supply: 'supply', balance: 'balance' })
await writeAllowances(named)
await writeExchange(named)
await writePools(named)
out.end()
await written
process.stdout.write(`${JSON.stringify({ atBlock: last, ...counts })}\n`)

/** Writes tokens; as of genesis only what is not zero. */
async function writeTokens(
  { tokens, held }: Named,
  block: number,
  kinds: { readonly supply: string; readonly balance: string },
): Promise<void> {
  const isTold = (amount: unknown) => block > 0 || Boolean(amount)
  const supplies = tokens.map((to) => ({ to, args: [], item: { token: to } }))
  await readView(
    rpc,
    block,
    { abi: erc20Abi, functionName: 'totalSupply' },
    supplies,
    ({ token }, supply) => {
      if (isTold(supply)) write(kinds.supply, { token, supply })
    },
  )
  const balances = held.map(([token, holder]) => ({ to: token, args: [holder], item: { token, holder } }))
  await readView(rpc, block, { abi: erc20Abi, functionName: 'balanceOf' }, balances, (item, amount) => {
    if (isTold(amount)) write(kinds.balance, { ...item, amount })
  })
}

async function writeAllowances({ allowances }: Named): Promise<void> {
  const asked = allowances.map(([token, owner, spender]) => ({
    ...{ to: token, args: [owner, spender], item: { token, owner, spender } },
  }))
  await readView(rpc, last, { abi: erc20Abi, functionName: 'allowance' }, asked, (item, amount) =>
    write('allowance', { ...item, amount }),
  )
}

async function writeExchange({ orders, makers }: Named): Promise<void> {
  const abi = Abis.stablecoinDex
  const asked = orders.map((id) => ({ to: exchange, args: [id], item: {} }))
  await readView(rpc, last, { abi, functionName: 'getOrder' }, asked, (_, order) =>
    write('order', Object(order)),
  )
  const balances = makers.map(([maker, token]) => ({
    ...{ to: exchange, args: [maker, token], item: { maker, token } },
  }))
  await readView(rpc, last, { abi, functionName: 'balanceOf' }, balances, (item, amount) =>
    write('dexBalance', { ...item, amount }),
  )
}

async function writePools({ tokens }: Named): Promise<void> {
  const tip20s = tokens.filter((token) => token.startsWith('0x20c0'))
  const pairs = tip20s
    .flatMap((user) =>
      tip20s.slice(0, VALIDATOR_TOKENS_MAX).map((validator): [Hex, Hex] => [user, validator]),
    )
    .filter(([user, validator]) => user !== validator)
  const asked = pairs.map(([userToken, validatorToken]) => ({
    ...{ to: feeManager, args: [userToken, validatorToken], item: { userToken, validatorToken } },
  }))
  await readView(rpc, last, { abi: Abis.feeAmm, functionName: 'getPool' }, asked, (item, answer) => {
    const pool: { reserveUserToken: bigint; reserveValidatorToken: bigint } = Object(answer)
    if (pool.reserveUserToken || pool.reserveValidatorToken) write('pool', { ...item, ...pool })
  })
}

/** One line; amounts as decimal digits. */
function write(kind: string, fields: object): void {
  counts[kind] = (counts[kind] ?? 0) + 1
  const text = JSON.stringify({ kind, ...fields }, (_, value) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
  out.write(`${text}\n`)
}
