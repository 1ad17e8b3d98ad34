/** The word of CONFIG's file on a chain's finality. */
import { SettingError } from '#errors.ts'
import * as s from '#http/schema.ts'
import { type ConfiguredKey, initialKeys } from '#ingest/finality/keys/pinnedKeys.ts'
import type { FinalityChoice } from '#ingest/finality/rules/chosenRule.ts'
import { lowercased } from '#primitives.ts'
import { matching, oneOf, whole } from './kind.ts'

export interface FinalitySetting {
  readonly rule: FinalityChoice
  /** A key beside the compiled ones, or in place of one. */
  readonly key: ConfiguredKey | null
}

export const defaultFinality: FinalitySetting = { rule: 'both', key: null }

/** Compressed and not infinity, as its first bits say. Whether it is a point takes the curve to tell. */
const identity = matching(
  '^0x[89abAB][0-9a-fA-F]{191}$',
  'a key: 0x and the 192 hex digits of a compressed point',
)

export const finalitySchema = s.object(
  {
    rule: s.optional(oneOf('certificate', 'endpoints', 'both').schema),
    identity: s.optional(identity.schema),
    fromEpoch: s.optional(whole(0).schema),
  },
  { description: 'an object' },
)

/** @param where the field stands, for people @throws SettingError */
export function finalityOf(
  { rule = defaultFinality.rule, identity, fromEpoch }: s.Static<typeof finalitySchema>,
  chainId: number,
  where: string,
): FinalitySetting {
  if (identity === undefined && fromEpoch !== undefined)
    throw new SettingError('CONFIG', `${where}.fromEpoch stands without \`identity\``)
  if (identity !== undefined && fromEpoch === undefined)
    throw new SettingError('CONFIG', `${where}.identity stands without \`fromEpoch\``)
  const key =
    identity === undefined || fromEpoch === undefined ? null : { identity: lowercased(identity), fromEpoch }
  if (rule === 'certificate' && initialKeys(chainId, key) === null)
    throw new SettingError(
      'CONFIG',
      `${where}.rule is certificate, and no key of chain ${chainId} is known: give \`identity\` and \`fromEpoch\``,
    )
  return { rule, key }
}

/** @throws SettingError where a configured key is no point of the curve's group */
export async function assertKeyIsPoint({ key }: FinalitySetting): Promise<void> {
  if (!key) return
  // The arithmetic of the curve takes 12 MB, which most runs do without.
  const { isKey } = await import('#ingest/finality/certificate/groupSignatures.ts')
  if (!isKey(key.identity))
    throw new SettingError('CONFIG', 'finality.identity is not a key: it is no point of the curve’s group')
}
