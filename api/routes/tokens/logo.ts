/** GET /v1/tokens/{token}/logo. */
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { extname, sep } from 'node:path'
import type { CuratedLogo, LogoFile } from '#api/operator/curatedTokens.ts'
import type { Egress } from '#egress/Egress.ts'
import { EgressRefusedError } from '#egress/errors.ts'
import { ApiError } from '#http/errors.ts'
import { rawEndpoint } from '#http/rawEndpoint.ts'
import * as p from '#http/request/parameter.ts'
import { findTokens } from '#store/read/tokens.ts'
import type { Image, LogoCache } from './LogoCache.ts'
import { type TokenServices, tokenChainOf } from './tokens.ts'

export interface LogoServices extends TokenServices {
  /** For logos that are elsewhere. */
  readonly egress: Pick<Egress, 'fetch'>
  readonly logoCache: LogoCache
}

/** A logo is a small picture; what is larger is none. */
const BYTES_MAX = 512 * 1024

/** Pictures browsers show, by the name's end of a file. */
const types: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
}
const contentTypes = [...new Set(Object.values(types))]

/**
 * A picture of a stranger, opened by itself, runs nothing and loads nothing (SVG may hold scripts).
 */
const harmless = { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox" }

export const readTokenLogoEndpoint = rawEndpoint({
  path: '/v1/tokens/{token}/logo',
  summary: "A token's logo.",
  description:
    "The operator's, else the one the token itself names: a `data:` URI, or a picture of up to 512 KiB behind `https:`.",
  params: { token: p.token },
  chain: 'query',
  produces: Object.fromEntries(contentTypes.map((type) => [type, null])),
  errors: ['token_logo_not_found', 'projection_incomplete', 'coverage_incomplete'],
  answer: async ({ chainId, path, signal }, services: LogoServices) => {
    const { curatedTokens } = services
    const logo =
      curatedTokens.find(chainId, path.token)?.logo ??
      (await logoOnChain(services, { chainId, token: path.token, signal }))
    const image = logo && (await readLogo(logo, services, signal))
    if (!image) throw new ApiError('token_logo_not_found')
    return { kind: 'bytes', ...image, cache: 'asset', headers: harmless }
  },
})

async function logoOnChain(
  services: TokenServices,
  of: {
    readonly chainId: Parameters<typeof tokenChainOf>[1]
    readonly token: string
    readonly signal: AbortSignal
  },
): Promise<CuratedLogo | null> {
  const chain = tokenChainOf(services, of.chainId)
  const found = await findTokens(chain, [of.token], { totals: false }, of.signal)
  const uri = found.get(of.token)?.logoUri ?? null
  return uri === null ? null : { uri }
}

/** Null where there is no picture. */
async function readLogo(
  logo: CuratedLogo,
  { egress, logoCache }: LogoServices,
  signal: AbortSignal,
): Promise<Image | null> {
  if ('file' in logo) return readLogoFile(logo)
  if (logo.uri.startsWith('data:')) return readDataUri(logo.uri)
  return logoCache.read(logo.uri, () => fetchLogo(logo.uri, egress, signal))
}

/**
 * A file that is missing, too long, no file at all, or reached by a link out of the list's folder is
 * no picture. Type and size are looked at before it is read, and no more than that size is read.
 */
async function readLogoFile({ file, folder }: LogoFile): Promise<Image | null> {
  const contentType = types[extname(file).toLowerCase()]
  if (contentType === undefined) return null
  try {
    const [path, within] = await Promise.all([realpath(file), realpath(folder)])
    return path.startsWith(within + sep) ? imageOf(contentType, await readSmallFile(path)) : null
  } catch {
    return null
  }
}

/** Empty where it is no file, or too long. */
async function readSmallFile(path: string): Promise<Buffer> {
  // Without waiting: opening a pipe would wait for a writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = await handle.stat()
    if (!found.isFile() || found.size > BYTES_MAX) return Buffer.alloc(0)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(found.size), 0, found.size, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

async function fetchLogo(
  url: string,
  egress: LogoServices['egress'],
  signal: AbortSignal,
): Promise<Image | null> {
  try {
    const { status, contentType, body } = await egress.fetch({
      url,
      purpose: 'logo',
      bytesMax: BYTES_MAX,
      signal,
    })
    return status === 200 ? imageOf(contentType, body) : null
  } catch (error) {
    if (error instanceof EgressRefusedError) return null
    throw error
  }
}

const imageOf = (contentType: string | undefined, body: Buffer): Image | null =>
  contentType !== undefined &&
  contentTypes.includes(contentType) &&
  body.length > 0 &&
  body.length <= BYTES_MAX
    ? { contentType, body }
    : null

/** RFC 2397: `data:image/png;base64,…`, or percent-encoded text. */
function readDataUri(uri: string): Image | null {
  const [, type = '', data = ''] = /^data:([^,]*),(.*)$/s.exec(uri) ?? []
  const [contentType = '', ...parameters] = type.toLowerCase().split(';')
  if (parameters.includes('base64')) return imageOf(contentType, Buffer.from(data, 'base64'))
  try {
    return imageOf(contentType, Buffer.from(decodeURIComponent(data)))
  } catch {
    // A stray percent sign: no encoded text.
    return null
  }
}
