/**
 * Access of a running program: keys and quotas in Postgres, and what its first start makes for the
 * operator.
 */

import type { Quotas } from '#api/access/Quotas.ts'
import type { PaidRequests } from '#api/access/RequestPrices.ts'
import { ServiceAccess } from '#api/access/ServiceAccess.ts'
import { SignIn, type SigningNode } from '#api/access/SignIn.ts'
import type { AccessSettings } from '#api/access/settings.ts'
import { newToken } from '#api/access/token.ts'
import { UsageMeter } from '#api/access/UsageMeter.ts'
import type { Accounts } from '#api/routes/orgs/accounts.ts'
import type { ChainReads } from '#api/services.ts'
import type { PayerProofs } from '#payments/PayerProofs.ts'
import { type Defaults, makeDefaults, readDefaults } from '#rows/access/defaults.ts'
import { findKey, insertKey, tokenDigest } from '#rows/access/keys.ts'
import { findSession } from '#rows/access/sessions.ts'
import { addUsage } from '#rows/access/usage.ts'
import { type AppDatabase, appDatabase } from '#rows/database.ts'
import type { Secrets } from '#rows/secrets.ts'
import type { Clock } from '#runtime/runtime.ts'
import { everybody } from '#runtime/Slots.ts'
import type { Engines } from '../../engines.ts'

export interface OpenedAccess {
  readonly access: ServiceAccess
  /** The means of operations on organizations and keys. */
  readonly accounts: Accounts
  readonly signIn: SignIn
  /** The token of the default key, where this start made it: shown once, to the terminal. */
  readonly firstKey: string | null
  /** Gives quotas back and removes past ones, until aborted. */
  run(signal: AbortSignal): Promise<void>
}

/** The secret under which tokens are digested. */
export const keyPepper = (secrets: Secrets) => secrets.keys('api_keys')

export interface AccessOptions {
  readonly settings: AccessSettings
  readonly engines: Pick<Engines, 'postgres'>
  readonly secrets: Secrets
  readonly quotas: Quotas
  /** The first one reads signatures of contracts' wallets. */
  readonly chains: ReadonlyMap<number, SigningReads>
  readonly clock: Clock
  /** The first start makes a key only where it is shown. */
  readonly showsKey: boolean
  /** Null where nothing is sold. */
  readonly payments: PaidRequests | null
  readonly proofs: PayerProofs | null
}

export async function openAccess(options: AccessOptions): Promise<OpenedAccess> {
  const { settings, engines, secrets, quotas, chains, clock, showsKey, payments, proofs } = options
  const app = appDatabase(engines.postgres)
  const peppers = await keyPepper(secrets)
  const { defaults, firstKey } = await firstThings(app, showsKey ? peppers[0] : null)
  const digestsOf = (token: string) => peppers.map((pepper) => tokenDigest(token, pepper))
  const credentials = {
    findKey: (token: string) => findKey(app, digestsOf(token)),
    findSession: (token: string) => findSession(app, digestsOf(token)),
    digestOf: (token: string) => tokenDigest(token, peppers[0]).toString('base64url'),
  }
  const usage = new UsageMeter({ add: (counts) => addUsage(app, counts) }, clock)
  const answered: UsageMeter['count'] = (...told) => usage.count(...told)
  const access = new ServiceAccess({
    ...{ settings, credentials, quotas, defaults, payments, proofs, clock, answered },
  })
  const accounts = { app, pepper: peppers[0], issuableScopes: settings.issuableScopes, defaults, clock }
  const signIn = new SignIn({
    settings,
    app,
    messageKeys: await secrets.keys('sign_in'),
    peppers,
    node: signingNode(chains),
    forget: (token) => access.forgetSession(token),
    clock,
  })
  const run = async (signal: AbortSignal) => {
    await Promise.all([quotas.run(signal), usage.run(signal)])
  }
  return { access, accounts, signIn, firstKey, run }
}

type SigningReads = Pick<ChainReads, 'chainId' | 'node'>

/** The first chain served. */
function signingNode(chains: ReadonlyMap<number, SigningReads>): SigningNode | null {
  const [first] = chains.values()
  if (!first) return null
  const { chainId, node } = first
  return { chainId, ask: (questions, signal) => node.ask(questions, everybody, signal) }
}

/** Made by the first start on a database, by one of those that start at once. */
async function firstThings(
  app: AppDatabase,
  pepper: Uint8Array | null,
): Promise<{ readonly defaults: Defaults; readonly firstKey: string | null }> {
  const found = await readDefaults(app)
  if (found) return { defaults: found, firstKey: null }
  const { made, ...defaults } = await makeDefaults(app)
  // Where no terminal shows it, a key would end up in a log: `millrace keys create` makes one.
  if (!made || !pepper) return { defaults, firstKey: null }
  const token = newToken('live')
  const { orgId, projectId, userId } = defaults
  await insertKey(
    app,
    {
      orgId,
      projectId,
      token,
      name: 'Default',
      environment: 'production',
      scopes: ['*'],
      createdBy: userId,
      expiresAt: null,
      allowedIps: null,
      chains: null,
      origins: null,
      quota: null,
      addressQuota: null,
    },
    pepper,
  )
  return { defaults, firstKey: token }
}
