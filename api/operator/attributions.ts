/**
 * The operator's list of paid services: whom a transfer's memo names (present/memo.ts).
 */
import { SettingError } from '#errors.ts'
import * as s from '#http/schema.ts'
import { settingFile } from '#http/settingCheck.ts'
import type { AttributedService } from '#present/memo.ts'

/** More than any directory of services has; it is held in memory. */
const SERVICES_MAX = 100_000

/** Names are shown in every answer that has them. */
const NAME_CHARACTERS_MAX = 100

const service = s.object(
  {
    name: s.text({
      pattern: `^(?=.{1,${NAME_CHARACTERS_MAX}}$).*\\S`,
      description: `a text of 1 to ${NAME_CHARACTERS_MAX} characters`,
    }),
    realm: s.optional(s.text({ minLength: 1, description: 'a text' })),
    fingerprint: s.optional(
      s.text({ pattern: '^0x[0-9a-fA-F]{20}$', description: '0x and 20 hex characters' }),
    ),
  },
  { description: 'an object' },
)

const services = s.array(service, {
  maxItems: SERVICES_MAX,
  description: `a list of at most ${SERVICES_MAX}`,
})

const readFile = settingFile(s.openObject({ services }, { description: 'an object' }))

/**
 * Reads `{"services": [{"name": "Example", "realm": "api.example.com"}, {"name": "Other",
 * "fingerprint": "0x…"}]}`; a fingerprint is the first 10 bytes of the realm's keccak256, for
 * services that do not tell their realm.
 * @throws SettingError naming `setting`
 */
export function readAttributions(setting: string, path: string): readonly AttributedService[] {
  return readFile(setting, path).services.map(({ name, realm, fingerprint }, index) => {
    if (realm !== undefined && fingerprint === undefined) return { name, realm }
    if (realm === undefined && fingerprint !== undefined)
      return { name, fingerprint: fingerprint.toLowerCase() }
    throw new SettingError(
      setting,
      `${path}: services[${index}] has not one of \`realm\` and \`fingerprint\``,
    )
  })
}
