/**
 * The operator's list of paid services: whom a transfer's memo names (api/routes/present/memo.ts).
 */

import { readFileSync } from 'node:fs'
import { SettingError } from '#errors.ts'
import { isRecord } from '#primitives.ts'

/**
 * A service to name: by its realm, a domain name compared as it is, or by that realm's fingerprint,
 * 0x and 20 hex.
 */
export type AttributedService = { readonly name: string } & (
  | { readonly realm: string }
  | { readonly fingerprint: string }
)

/** More than any directory of services has; it is held in memory. */
const SERVICES_MAX = 100_000

/** Names are shown in every answer that has them. */
const NAME_CHARACTERS_MAX = 100

/**
 * Reads `{"services": [{"name": "Example", "realm": "api.example.com"}, {"name": "Other",
 * "fingerprint": "0x…"}]}`; a fingerprint is the first 10 bytes of the realm's keccak256, for
 * services that do not tell their realm.
 * @throws SettingError naming `setting`
 */
export function readAttributions(setting: string, path: string): readonly AttributedService[] {
  const { services } = parseFile(setting, path)
  if (!Array.isArray(services) || services.length > SERVICES_MAX)
    throw new SettingError(setting, `${path}: \`services\` is not a list of at most ${SERVICES_MAX}`)
  return services.map((entry, index) => readService(setting, `${path}: services[${index}]`, entry))
}

function parseFile(setting: string, path: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (isRecord(parsed)) return parsed
  } catch (cause) {
    throw new SettingError(setting, `${path} cannot be read as JSON`, { cause })
  }
  throw new SettingError(setting, `${path} is not a JSON object`)
}

function readService(setting: string, where: string, entry: unknown): AttributedService {
  if (!isRecord(entry)) throw new SettingError(setting, `${where} is not an object`)
  const { name, realm, fingerprint, ...others } = entry
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new SettingError(setting, `${where} has an unknown field \`${unknown}\``)
  if (typeof name !== 'string' || name.trim() === '' || name.length > NAME_CHARACTERS_MAX)
    throw new SettingError(setting, `${where}.name is not a text of 1 to ${NAME_CHARACTERS_MAX} characters`)
  if ((realm === undefined) === (fingerprint === undefined))
    throw new SettingError(setting, `${where} has not one of \`realm\` and \`fingerprint\``)
  if (fingerprint !== undefined) return { name, fingerprint: readFingerprint(setting, where, fingerprint) }
  if (typeof realm !== 'string' || realm === '')
    throw new SettingError(setting, `${where}.realm is not a text`)
  return { name, realm }
}

function readFingerprint(setting: string, where: string, value: unknown): string {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{20}$/i.test(value))
    throw new SettingError(setting, `${where}.fingerprint is not 0x and 20 hex characters`)
  return value.toLowerCase()
}
