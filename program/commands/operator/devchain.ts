/** `millrace devchain`: where the local dev chain of a running program is, and money on it. */
import { createClient, encodeFunctionData, http, isAddress } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { sendTransactionSync } from 'viem/actions'
import { tempo } from 'viem/chains'
import { Abis } from 'viem/tempo'
import { SettingError } from '#errors.ts'
import { allowChannels } from '#local/devchain/channels/escrow.ts'
import { DEV_CHAIN_ID, devChainFiles, readRecord } from '#local/devchain/devChainRecord.ts'
import { DevRpc } from '#local/devchain/devRpc.ts'
import type { Config } from '../../config.ts'

/** Every dev chain begins with these. */
const tokens = {
  pathUSD: '0x20c0000000000000000000000000000000000000',
  AlphaUSD: '0x20c0000000000000000000000000000000000001',
} as const
/** Foundry's own, which is no secret. */
const MNEMONIC = 'test test test test test test test test test test test junk'
/** A thousand dollars of each token. */
const FUNDED = 1_000_000_000n
/** A balance that was never there before costs more than nodes estimate. */
const TRANSFER_GAS = 1_500_000n

interface RunningDevChain {
  readonly rpcUrl: string
  readonly chainId: number
}

/** @throws SettingError when none runs */
export async function printDevChain(config: Config, json: boolean): Promise<void> {
  const chain = await findDevChain(config)
  const told = { ...chain, tokens }
  const lines = [`rpcUrl   ${chain.rpcUrl}`, `chainId  ${chain.chainId}`]
  const named = Object.entries(tokens).map(([name, address]) => `${name.padEnd(8)} ${address}`)
  process.stdout.write(json ? `${JSON.stringify(told)}\n` : `${[...lines, ...named].join('\n')}\n`)
}

/** Gives an account a thousand of each token, which it may also pay into channels. @throws SettingError */
export async function fundAccount(config: Config, account: unknown): Promise<void> {
  const to = String(account)
  if (!isAddress(to, { strict: false })) throw new SettingError('account', 'is not 0x and 40 hex characters')
  const { rpcUrl, chainId } = await findDevChain(config)
  const client = createClient({
    account: mnemonicToAccount(MNEMONIC),
    chain: { ...tempo, id: chainId },
    transport: http(rpcUrl),
  })
  const data = encodeFunctionData({ abi: Abis.tip20, functionName: 'transfer', args: [to, FUNDED] })
  for (const token of Object.values(tokens)) {
    // The traffic of the chain sends from the same account: this nonce is apart from its own.
    const apart = { nonceKey: 'expiring', gas: TRANSFER_GAS, feeToken: tokens.pathUSD } as const
    const receipt = await sendTransactionSync(client, { calls: [{ to: token, data }], ...apart })
    if (receipt.status !== 'success') throw new Error(`the chain refused ${receipt.transactionHash}`)
    await allowChannels(new DevRpc(rpcUrl), to, token)
  }
  process.stdout.write(`${to} has 1000 more of ${Object.keys(tokens).join(' and ')}\n`)
}

/** @throws SettingError when none runs on this data directory */
async function findDevChain({ dataDir, chains }: Config): Promise<RunningDevChain> {
  const chainId = chains.find(({ rpcUrls }) => rpcUrls.length === 0)?.chainId ?? DEV_CHAIN_ID
  const record = await readRecord(devChainFiles(dataDir, chainId))
  const rpcUrl = `http://127.0.0.1:${record?.port}`
  const isThere = record !== undefined && (await new DevRpc(rpcUrl).quantity('eth_chainId').catch(() => null))
  if (isThere !== chainId)
    throw new SettingError(
      'DATA_DIR',
      `no dev chain of ${dataDir} runs; \`npm start\` without RPC_URL starts one`,
    )
  return { rpcUrl, chainId }
}
