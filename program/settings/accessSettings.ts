/** Settings of access: who may come in where nothing is said, and the operator's file. */
import { addressList } from '#api/access/clientAddress.ts'
import { type AccessSettings, fileDefaults, readAccessFile } from '#api/access/settings.ts'
import { messageOf, SettingError } from '#errors.ts'
import type { Settings } from './readSettings.ts'

type Given = Pick<
  Settings,
  'ACCESS' | 'ACCESS_FILE' | 'CORS_ORIGINS' | 'HOST' | 'PUBLIC_URL' | 'TRUSTED_PROXIES'
>

/** @throws SettingError */
export function readAccess(given: Given): {
  readonly access: AccessSettings
  readonly trustedProxies: readonly string[]
} {
  const trustedProxies = given.TRUSTED_PROXIES ?? []
  assertAddresses(trustedProxies)
  const file = given.ACCESS_FILE === null ? fileDefaults : readAccessFile('ACCESS_FILE', given.ACCESS_FILE)
  const publicUrl = given.PUBLIC_URL === null ? null : new URL(given.PUBLIC_URL)
  const corsOrigins = given.CORS_ORIGINS
  return { access: { ...file, ...modeOf(given), publicUrl, corsOrigins }, trustedProxies }
}

function modeOf(given: Given): Pick<AccessSettings, 'mode' | 'isOpenToAll' | 'reason'> {
  if (given.ACCESS === 'open')
    return { mode: 'open', isOpenToAll: true, reason: 'ACCESS=open lets everybody in, uncounted' }
  const guarded = (reason: string) => ({ mode: 'guarded', isOpenToAll: false, reason }) as const
  if (given.ACCESS === 'guarded') return guarded('ACCESS=guarded')
  if (given.PUBLIC_URL !== null) return guarded('PUBLIC_URL is set')
  if (given.TRUSTED_PROXIES?.length) return guarded('TRUSTED_PROXIES is set')
  if (!isLoopbackHost(given.HOST)) return guarded('HOST is not loopback')
  const reason =
    'HOST is loopback, and neither PUBLIC_URL nor TRUSTED_PROXIES is set; what comes through a proxy is refused'
  return { mode: 'open', isOpenToAll: false, reason }
}

const isLoopbackHost = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)

function assertAddresses(proxies: readonly string[]): void {
  try {
    addressList(proxies)
  } catch (cause) {
    throw new SettingError('TRUSTED_PROXIES', messageOf(cause), { cause })
  }
}
