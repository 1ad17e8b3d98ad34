/** `millrace devchain`: where the local dev chain of a running program is, and money on it. */
import { isAddress } from 'viem'
import { SettingError } from '#errors.ts'
import { DevRpc } from '#local/devchain/DevRpc.ts'
import { DEV_CHAIN_ID, devChainFiles, readRecord } from '#local/devchain/devChainRecord.ts'
import { devTokens, fundAccount } from '#local/devchain/fundAccount.ts'
import type { Config } from '../../config.ts'

export interface RunningDevChain {
  readonly rpcUrl: string
  readonly chainId: number
}

/** @throws SettingError when none runs */
export async function printDevChain(config: Config, json: boolean): Promise<void> {
  const chain = await findDevChain(config)
  const told = { ...chain, tokens: devTokens }
  const lines = [`rpcUrl   ${chain.rpcUrl}`, `chainId  ${chain.chainId}`]
  const named = Object.entries(devTokens).map(([name, address]) => `${name.padEnd(8)} ${address}`)
  process.stdout.write(json ? `${JSON.stringify(told)}\n` : `${[...lines, ...named].join('\n')}\n`)
}

/** Gives an account a thousand of each token. @throws SettingError */
export async function fundDevAccount(config: Config, account: unknown): Promise<void> {
  const to = String(account)
  if (!isAddress(to, { strict: false })) throw new SettingError('account', 'is not 0x and 40 hex characters')
  await fundAccount(await findDevChain(config), to)
  process.stdout.write(`${to} has 1000 more of ${Object.keys(devTokens).join(', ')}\n`)
}

/** @throws SettingError when none runs on this data directory */
export async function findDevChain({ dataDir, chains }: Config): Promise<RunningDevChain> {
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
