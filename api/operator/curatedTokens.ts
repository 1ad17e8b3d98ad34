/**
 * The operator's list of tokens: which are `verified`, in which order, and with which logo. What a
 * token is called comes from the chain; an entry of a token the chain does not have is shown
 * nowhere.
 */
import { dirname, isAbsolute, resolve, sep } from 'node:path'
import { SettingError } from '#errors.ts'
import * as s from '#http/schema.ts'
import { settingFile } from '#http/settingCheck.ts'
import { type Address, address } from '#primitives.ts'

export interface CuratedToken {
  readonly address: Address
  /**
   * Logo to show instead of the one the chain names: a file in the folder of the list, or a `data:`
   * or `https:` URI.
   */
  readonly logo: CuratedLogo | null
}

export type CuratedLogo = LogoFile | { readonly uri: string }

export interface LogoFile {
  readonly file: string
  /** The folder that it may not be reached out of. */
  readonly folder: string
}

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

const entry = s.object(
  {
    chainId: s.integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'a chain id' }),
    address: s.text({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'an address' }),
    logo: s.optional(s.nullable(s.text({ description: 'a text' }))),
  },
  { description: 'an object' },
)

const tokens = s.array(entry, { maxItems: TOKENS_MAX, description: `a list of at most ${TOKENS_MAX}` })

const timestamp = s.refine(
  s.text({ description: 'a moment such as 2026-01-31T12:00:00Z' }),
  (text) => !Number.isNaN(Date.parse(text)),
)

// A published list has further fields, such as a name.
const readFile = settingFile(s.openObject({ timestamp, tokens }, { description: 'an object' }))

/**
 * Reads `{"timestamp": "2026-01-31T12:00:00Z", "tokens": [{"chainId": 4217, "address": "0x…",
 * "logo": "usd.svg"}]}`.
 * @throws SettingError naming `setting`
 */
export function readCuratedTokens(setting: string, path: string | URL): CuratedTokens {
  const file = typeof path === 'string' ? path : path.pathname
  const content = readFile(setting, path)
  const byChain = new Map<number, Map<string, CuratedToken>>()
  for (const [index, entry] of content.tokens.entries()) {
    const wrong = (problem: string) => new SettingError(setting, `${file}: tokens[${index}]${problem}`)
    const token = {
      address: address(entry.address),
      logo: entry.logo ? logoOf(entry.logo, dirname(file)) : null,
    }
    if (token.logo === undefined) throw wrong('.logo must be a file in the folder of the list, or a URI')
    const ofChain = byChain.get(entry.chainId) ?? new Map<string, CuratedToken>()
    if (ofChain.has(token.address)) throw wrong(' is in the list twice')
    byChain.set(entry.chainId, ofChain.set(token.address, { ...token, logo: token.logo }))
  }
  return {
    changedAtSeconds: Math.floor(Date.parse(content.timestamp) / 1000),
    of: (chainId) => [...(byChain.get(chainId)?.values() ?? [])],
    find: (chainId, token) => byChain.get(chainId)?.get(token),
  }
}

/** Undefined for a file elsewhere: strangers read what a list names. */
function logoOf(text: string, folder: string): CuratedLogo | undefined {
  if (/^(data|https?|ipfs):/.test(text)) return { uri: text }
  const file = resolve(folder, text)
  return isAbsolute(text) || !file.startsWith(resolve(folder) + sep) ? undefined : { file, folder }
}
