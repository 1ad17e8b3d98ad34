/**
 * The operator's list of tokens: which are `verified`, in which order, and with which logo. What a
 * token is called comes from the chain; an entry of a token the chain does not have is shown
 * nowhere.
 */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { SettingError } from '#errors.ts'
import { type Address, address, isRecord } from '#primitives.ts'

export interface CuratedToken {
  readonly address: Address
  /**
   * Logo to show instead of the one the chain names: a file beside the list, or a `data:` or
   * `https:` URI.
   */
  readonly logo: CuratedLogo | null
}

export type CuratedLogo = { readonly file: string } | { readonly uri: string }

export interface CuratedTokens {
  /** When the list was last changed, Unix seconds. */
  readonly changedAtSeconds: number
  /** In the order of the list; none for a chain it does not name. */
  of(chainId: number): readonly CuratedToken[]
  find(chainId: number, token: string): CuratedToken | undefined
}

/** More than any published token list has; it is held in memory and passed to statements. */
const TOKENS_MAX = 10_000

/** Genesis tokens of Tempo's networks and of the local dev chain. */
export const curatedTokensDefault = new URL('default.json', import.meta.url)

/**
 * Reads `{"timestamp": "2026-01-31T12:00:00Z", "tokens": [{"chainId": 4217, "address": "0x…",
 * "logo": "usd.svg"}]}`.
 * @throws SettingError naming `setting`
 */
export function readCuratedTokens(setting: string, path: string | URL): CuratedTokens {
  const file = typeof path === 'string' ? path : path.pathname
  const parsed = parseFile(setting, path, file)
  const changedAtMs = Date.parse(String(parsed['timestamp']))
  if (Number.isNaN(changedAtMs))
    throw new SettingError(setting, `${file}: \`timestamp\` is not a moment such as 2026-01-31T12:00:00Z`)
  const { tokens } = parsed
  if (!Array.isArray(tokens) || tokens.length > TOKENS_MAX)
    throw new SettingError(setting, `${file}: \`tokens\` is not a list of at most ${TOKENS_MAX}`)
  const byChain = new Map<number, Map<string, CuratedToken>>()
  for (const [index, entry] of tokens.entries()) {
    const { chainId, token } = readEntry(setting, `${file}: tokens[${index}]`, entry, dirname(file))
    const ofChain = byChain.get(chainId) ?? new Map<string, CuratedToken>()
    if (ofChain.has(token.address))
      throw new SettingError(setting, `${file}: tokens[${index}] is in the list twice`)
    byChain.set(chainId, ofChain.set(token.address, token))
  }
  return {
    changedAtSeconds: Math.floor(changedAtMs / 1000),
    of: (chainId) => [...(byChain.get(chainId)?.values() ?? [])],
    find: (chainId, token) => byChain.get(chainId)?.get(token),
  }
}

function parseFile(setting: string, path: string | URL, file: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (isRecord(parsed)) return parsed
  } catch (cause) {
    throw new SettingError(setting, `${file} cannot be read as JSON`, { cause })
  }
  throw new SettingError(setting, `${file} is not a JSON object`)
}

const fields = new Set(['chainId', 'address', 'logo'])

function readEntry(
  setting: string,
  where: string,
  entry: unknown,
  folder: string,
): { readonly chainId: number; readonly token: CuratedToken } {
  if (!isRecord(entry)) throw new SettingError(setting, `${where} is not an object`)
  const unknown = Object.keys(entry).find((name) => !fields.has(name))
  if (unknown !== undefined) throw new SettingError(setting, `${where} has an unknown field \`${unknown}\``)
  const { chainId, logo = null } = entry
  if (typeof chainId !== 'number' || !Number.isSafeInteger(chainId) || chainId < 1)
    throw new SettingError(setting, `${where}.chainId is not a chain id`)
  if (logo !== null && typeof logo !== 'string')
    throw new SettingError(setting, `${where}.logo is not a text`)
  return {
    chainId,
    token: {
      address: readAddress(setting, where, entry['address']),
      logo: logo ? logoOf(logo, folder) : null,
    },
  }
}

function readAddress(setting: string, where: string, value: unknown): Address {
  try {
    return address(String(value))
  } catch (cause) {
    throw new SettingError(setting, `${where}.address is not an address`, { cause })
  }
}

function logoOf(text: string, folder: string): CuratedLogo {
  return /^(data|https?|ipfs):/.test(text) ? { uri: text } : { file: resolve(folder, text) }
}
