/** The means that the operator's endpoints read money with. */
import type { BooksLook } from '#payments/books/BooksWatch.ts'
import type { AppDatabase } from '#rows/database.ts'
import type { WalletTold } from './shapes.ts'

export interface MoneyDesk {
  /** For reads. */
  readonly app: AppDatabase
  /** Null where there is no wallet. */
  readonly wallet: (() => Promise<WalletTold>) | null
  /** Why nothing is sold; null where something is. */
  readonly sellingProblem: string | null
  /** Null where this process does not look at the books. */
  readonly books: () => BooksLook | null
  /** Decimals of a token; null where nobody knows. */
  readonly decimalsOf: (chainId: number, currency: string) => number | null
}

export interface MoneyServices {
  readonly money: MoneyDesk
}
