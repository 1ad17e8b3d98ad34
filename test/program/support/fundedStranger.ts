/** Commands beside a running program, and accounts with money on its dev chain. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Mppx, tempo as payByTempo } from 'mppx/client'
import { createClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { tempo } from 'viem/chains'

const main = fileURLToPath(new URL('../../../main.ts', import.meta.url))

/** Runs `millrace` with these words; what it prints. */
export type MillraceCommand = (...args: string[]) => Promise<string>

/** Commands for the program that runs with this data folder, on the port that it has by then. */
export function commandsOf(dataDir: string, port: () => string): MillraceCommand {
  return async (...args) => {
    const env = { ...process.env, DATA_DIR: dataDir, PORT: port() }
    const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env })
    return stdout
  }
}

/** An account with money, and its fetch that pays. */
export async function fundedStranger(millrace: MillraceCommand) {
  const { rpcUrl, chainId } = JSON.parse(await millrace('devchain', '--json'))
  const key = generatePrivateKey()
  const account = privateKeyToAccount(key)
  await millrace('devchain', 'fund', account.address)
  const client = createClient({ account, chain: { ...tempo, id: chainId }, transport: http(rpcUrl) })
  const methods = [payByTempo({ account, getClient: () => client })]
  return {
    ...{ key, account, chain: { rpcUrl, chainId }, address: account.address.toLowerCase() },
    pay: Mppx.create({ polyfill: false, methods }).fetch,
  }
}
