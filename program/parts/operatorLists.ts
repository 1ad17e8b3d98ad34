/** The operator's own lists, read before anything is opened. */
import { readAttributions } from '#api/operator/attributions.ts'
import { type CuratedTokens, curatedTokensDefault, readCuratedTokens } from '#api/operator/curatedTokens.ts'
import { declareContracts } from '#api/operator/declaredContracts.ts'
import type { DeclaredContracts } from '#api/services.ts'
import type { AttributedService } from '#present/memo.ts'
import type { Config } from '../config.ts'
import type { ChainConfig } from '../settings/chainFields.ts'

export interface OperatorLists {
  readonly curatedTokens: CuratedTokens
  readonly attributions: readonly AttributedService[]
  declaredOf(chain: ChainConfig): DeclaredContracts
}

/** @throws SettingError */
export function readLists({ tokenlist, attributions, chains }: Config): OperatorLists {
  const declared = new Map(chains.map((chain) => [chain, declareContracts(chain.contracts)]))
  return {
    curatedTokens: readCuratedTokens('TOKENLIST', tokenlist ?? curatedTokensDefault),
    attributions: attributions ? readAttributions('ATTRIBUTIONS', attributions) : [],
    declaredOf: (chain) => declared.get(chain) ?? { tables: [], activities: [] },
  }
}
