/** Mistakes with money, each planted in what the program is given or in the statements that it sends. */
import type { Rewrite } from './simStore.ts'

/** Rewrites of statements. */
const inStatements = {
  'a refund is forgotten': (text, values) =>
    without(isInsert(text, 'payouts') && values.includes('refund'), text),
  'the books of an end are left out': (text, values) =>
    without(
      isInsert(text, 'ledger_entries') && values.some((value) => /\/closed$/.test(String(value))),
      text,
    ),
  'a settlement and its job are two commits': (text) =>
    isInsert(text, 'jobs') ? ['COMMIT', 'BEGIN', text] : [text],
  'what is taken back stays owed': (text, [state]) =>
    without(/^update "app"."payouts" set "state"/.test(text) && state === 'withdrawn', text),
  'a purchase is not written down': (text) => without(isInsert(text, 'job_attempts'), text),
} as const satisfies Readonly<Record<string, Rewrite>>

const inValues = [
  'the facilitator’s word is taken for the chain’s',
  'one node alone says what became of a payment',
  'one node alone says that a payout is nowhere',
  'a payout is final as soon as a block has it',
  'a payout is signed anew after a restart',
  'a reward is more than a share',
  'a stranger’s review is rewarded',
  'a restore is not noticed',
] as const

export type WholeBugName = keyof typeof inStatements | (typeof inValues)[number]
export type WholeBugs = ReadonlySet<WholeBugName>

const isInsert = (text: string, table: string): boolean => text.startsWith(`insert into "app"."${table}" `)
const without = (isLeftOut: boolean, text: string): readonly string[] => (isLeftOut ? [] : [text])

/** The statements that a program with these bugs sends. */
export const rewriteOf =
  (bugs: WholeBugs): Rewrite =>
  (text, values) => {
    for (const [name, rewrite] of Object.entries<Rewrite>(inStatements))
      if (bugs.has(name as WholeBugName)) return rewrite(text, values)
    return [text]
  }

/** A history in which each shows, as long as nothing that draws by chance changes. */
export const bugSeeds: Readonly<Record<WholeBugName, number>> = {
  'a refund is forgotten': 1,
  'the books of an end are left out': 3,
  'a settlement and its job are two commits': 18,
  'what is taken back stays owed': 12,
  'a purchase is not written down': 3,
  'the facilitator’s word is taken for the chain’s': 1,
  'one node alone says what became of a payment': 2,
  'one node alone says that a payout is nowhere': 3,
  'a payout is final as soon as a block has it': 8,
  'a payout is signed anew after a restart': 2,
  'a reward is more than a share': 1,
  'a stranger’s review is rewarded': 7,
  'a restore is not noticed': 18,
}
