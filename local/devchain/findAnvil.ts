/**
 * The local dev chain's program. The platform binary is run directly: a SIGKILL on the npm wrapper script
 * would leave the real process behind under another id.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { failure } from '#errors.ts'

const require = createRequire(import.meta.url)

/**
 * Platforms whose package is among our optional dependencies, as `process.platform`-`process.arch`.
 */
const packages: Readonly<Record<string, string>> = {
  'linux-x64': '@foundry-rs/anvil-linux-amd64',
  'linux-arm64': '@foundry-rs/anvil-linux-arm64',
  'darwin-arm64': '@foundry-rs/anvil-darwin-arm64',
}

/**
 * Path of anvil's binary for a platform.
 * @throws DevChainUnavailableError when there is none, naming the setting that replaces the dev
 * chain.
 */
export function findAnvil(platform: string = process.platform, arch: string = process.arch): string {
  const name = packages[`${platform}-${arch}`]
  if (!name) throw new DevChainUnavailableError(platform, arch, 'there is no anvil for it')
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'anvil')
  } catch (cause) {
    const problem = `the optional package ${name} is not installed`
    throw new DevChainUnavailableError(platform, arch, problem, { cause })
  }
}

/** The dev chain cannot run on this machine. */
export class DevChainUnavailableError extends failure(
  'DevChainUnavailableError',
  'dev_chain_unavailable',
  'stop',
) {
  readonly platform: string
  readonly arch: string

  constructor(platform: string, arch: string, problem: string, options?: ErrorOptions) {
    super(
      `no local dev chain on ${platform}-${arch}: ${problem}. Set RPC_URL to the JSON-RPC endpoint of a Tempo node`,
      options,
    )
    this.platform = platform
    this.arch = arch
  }
}
