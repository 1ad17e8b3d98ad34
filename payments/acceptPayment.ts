/** `Accept-Payment`: which methods a payer can pay by, and which it prefers. */

interface Preference {
  readonly method: string
  readonly intent: string
  readonly quality: number
}

/** More are not read. */
const PREFERENCES_MAX = 32
const entry = /^\s*([a-z0-9]+|\*)\/([a-z0-9-]+|\*)\s*(?:;\s*q=([01](?:\.\d{1,3})?)\s*)?$/i

/**
 * The offers that `accept` takes, the preferred first. All of them where it takes none: a payer that
 * can pay by none of them learns at least what there is.
 * @param accept such as `tempo/charge, tempo/session;q=0.5`; undefined for none
 */
export function acceptedOf<Offer extends { readonly name: string }>(
  offers: readonly Offer[],
  accept: string | undefined,
): readonly Offer[] {
  if (accept === undefined) return offers
  const preferences = preferencesIn(accept)
  const ranked = offers
    .map((offer) => ({ offer, quality: qualityOf(offer.name, preferences) }))
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
  return ranked.length > 0 ? ranked.map(({ offer }) => offer) : offers
}

/** Whether it says that the payer can pay so; false where it says nothing. */
export const namesMethod = (accept: string | undefined, name: string): boolean =>
  accept !== undefined && qualityOf(name, preferencesIn(accept)) > 0

const preferencesIn = (accept: string): readonly Preference[] =>
  accept.split(',', PREFERENCES_MAX).flatMap(preferenceIn)

function preferenceIn(text: string): readonly Preference[] {
  const [, method, intent, quality = '1'] = entry.exec(text) ?? []
  return method === undefined || intent === undefined
    ? []
    : [{ method: method.toLowerCase(), intent: intent.toLowerCase(), quality: Number(quality) }]
}

/** That of the entry that says most; 0 where none fits. */
function qualityOf(name: string, preferences: readonly Preference[]): number {
  const [method, intent] = name.split('/')
  const detail = (of: Preference) => Number(of.method !== '*') * 2 + Number(of.intent !== '*')
  const fitting = preferences.filter(
    (of) => (of.method === '*' || of.method === method) && (of.intent === '*' || of.intent === intent),
  )
  return fitting.toSorted((one, other) => detail(other) - detail(one))[0]?.quality ?? 0
}
