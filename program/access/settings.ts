/** Settings of access: who may come in where nothing is said, and the operator's file. */
import { readFileSync } from 'node:fs'
import { addressList } from '#api/access/clientAddress.ts'
import { type AccessSettings, fileDefaults, readAccessFile } from '#api/access/settings.ts'
import { messageOf, SettingError } from '#errors.ts'

type Read = (name: string) => string

/** @throws SettingError */
export function readAccess(read: Read): {
  readonly access: AccessSettings
  readonly trustedProxies: readonly string[]
} {
  const publicUrl = readPublicUrl(read('PUBLIC_URL'))
  const trustedProxies = readProxies(read('TRUSTED_PROXIES'))
  const file = readFile(read('ACCESS_FILE'))
  const access = { ...file, ...readMode(read, publicUrl !== null, trustedProxies.length > 0), publicUrl }
  return { access, trustedProxies }
}

function readMode(
  read: Read,
  hasUrl: boolean,
  hasProxies: boolean,
): Pick<AccessSettings, 'mode' | 'isOpenToAll' | 'reason'> {
  const asked = read('ACCESS')
  if (asked === 'open')
    return { mode: 'open', isOpenToAll: true, reason: 'ACCESS=open lets everybody in, uncounted' }
  if (asked === 'guarded') return { mode: 'guarded', isOpenToAll: false, reason: 'ACCESS=guarded' }
  if (asked !== '') throw new SettingError('ACCESS', `\`${asked}\` is not one of open, guarded`)
  const guarded = (reason: string) => ({ mode: 'guarded', isOpenToAll: false, reason }) as const
  if (hasUrl) return guarded('PUBLIC_URL is set')
  if (hasProxies) return guarded('TRUSTED_PROXIES is set')
  if (!isLoopbackHost(read('HOST'))) return guarded('HOST is not loopback')
  const reason =
    'HOST is loopback, and neither PUBLIC_URL nor TRUSTED_PROXIES is set; what comes through a proxy is refused'
  return { mode: 'open', isOpenToAll: false, reason }
}

const isLoopbackHost = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)

function readPublicUrl(text: string): URL | null {
  if (text === '') return null
  const url = URL.canParse(text) ? new URL(text) : null
  const isOrigin =
    url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
  if (!isOrigin || !['http:', 'https:'].includes(url.protocol))
    throw new SettingError('PUBLIC_URL', 'is not an http:// or https:// URL without a path')
  return url
}

function readProxies(text: string): string[] {
  const proxies = text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)
  try {
    addressList(proxies)
  } catch (cause) {
    throw new SettingError('TRUSTED_PROXIES', messageOf(cause), { cause })
  }
  return proxies
}

function readFile(path: string): typeof fileDefaults {
  if (path === '') return fileDefaults
  try {
    return readAccessFile(path, readFileSync(path, 'utf8'))
  } catch (cause) {
    if (cause instanceof SettingError) throw cause
    throw new SettingError('ACCESS_FILE', `${path} cannot be read (${messageOf(cause)})`, { cause })
  }
}
