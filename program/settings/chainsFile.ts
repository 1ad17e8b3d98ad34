/** The file that CONFIG names: several chains, each with its nodes, rules and contracts. */

import { contractsSchema, type DeclaredContract, declaredContract } from '#api/operator/declaredContracts.ts'
import { SettingError } from '#errors.ts'
import * as s from '#http/schema.ts'
import { settingFile } from '#http/settingCheck.ts'
import { type ChainConfig, checks, finalityDepth, rpcMethod, rpcUrl, startBlock } from './chainFields.ts'
import { defaultFinality, finalityOf, finalitySchema } from './finalityField.ts'
import { whole } from './kind.ts'
import { settings } from './table.ts'

const chain = s.object(
  {
    chainId: whole(1).schema,
    rpcUrls: s.array(rpcUrl.schema, { minItems: 1, description: 'a list of at least one endpoint' }),
    relayUrls: s.optional(s.array(rpcUrl.schema, { description: 'a list' })),
    rpcMethods: s.optional(s.array(rpcMethod.schema, { description: 'a list' })),
    startBlock: s.optional(startBlock.schema),
    finalityDepth: s.optional(finalityDepth.schema),
    finality: s.optional(finalitySchema),
    checks: s.optional(checks.schema),
    contracts: s.optional(contractsSchema),
  },
  { description: 'an object' },
)

const readFile = settingFile(
  s.object(
    { chains: s.array(chain, { minItems: 1, description: 'a list of chains' }) },
    { description: 'an object' },
  ),
)

/** `{"chains": [{"chainId": 4217, "rpcUrls": ["http://…"], "startBlock": 0}]}` @throws SettingError */
export function readChains(path: string): readonly ChainConfig[] {
  const { chains } = readFile('CONFIG', path)
  if (new Set(chains.map(({ chainId }) => chainId)).size !== chains.length)
    throw new SettingError('CONFIG', `${path}: a chainId is named twice`)
  return chains.map(({ contracts = [], finality, ...given }, index) => ({
    relayUrls: [],
    rpcMethods: [],
    startBlock: null,
    finalityDepth: Number(settings.FINALITY_DEPTH.fallback),
    checks: settings.VERIFY.fallback,
    ...given,
    finality: finality
      ? finalityOf(finality, given.chainId, `${path}: chains[${index}].finality`)
      : defaultFinality,
    contracts: withoutRepeats(`${path}: chains[${index}].contracts`, contracts.map(declaredContract)),
  }))
}

function withoutRepeats(where: string, contracts: readonly DeclaredContract[]): readonly DeclaredContract[] {
  const names = contracts.map(({ name }) => name)
  const repeated = names.find((name, index) => names.indexOf(name) < index)
  if (repeated !== undefined) throw new SettingError('CONFIG', `${where} names \`${repeated}\` twice`)
  return contracts
}
