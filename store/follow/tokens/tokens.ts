/**
 * Attributes of standard tokens (TIP-20), from the factory's and the tokens' own events. Tokens of
 * genesis have no creation event; their rows begin with what a node says of them
 * (genesisTokens.ts).
 */

import type { Address } from '#primitives.ts'
import { shownText } from '#transform/abi/argumentText.ts'
import {
  logoUriUpdated,
  nextQuoteTokenSet,
  pauseStateUpdate,
  quoteTokenUpdate,
  roleMembershipUpdated,
  supplyCapUpdate,
  transferPolicyUpdate,
} from '#transform/events/tokens/tip20.ts'
import { tokenCreated } from '#transform/events/tokens/tip20Factory.ts'
import { type EventPlace, type Fold, type FoldState, on } from '../fold.ts'
import { adminsFold } from './admins.ts'
import { shortText, shortUri } from './tokenTexts.ts'

const columns = {
  created_block: 'number',
  created_log_idx: 'number',
  created_at: 'seconds?',
  name: 'text?',
  symbol: 'text?',
  currency: 'text?',
  quote_token: 'address?',
  next_quote_token: 'address?',
  supply_cap: 'uint256?',
  paused: 'bool',
  transfer_policy_id: 'uint256?',
  logo_uri: 'text?',
} as const

export type TokenColumns = typeof columns
export type TokenState = FoldState<TokenColumns>

/**
 * The first state of a token if its creation says nothing else: all transfers allowed, supply up to 2^128 -
 * 1.
 */
const policyAllowAll = 1n
const supplyCapDefault = 2n ** 128n - 1n

/** A token nobody told anything about yet. */
export function blankToken(createdBlock: number, createdLogIndex: number): TokenState {
  return {
    created_block: createdBlock,
    created_log_idx: createdLogIndex,
    created_at: null,
    name: null,
    symbol: null,
    currency: null,
    quote_token: null,
    next_quote_token: null,
    supply_cap: null,
    paused: false,
    transfer_policy_id: null,
    logo_uri: null,
  }
}

const emitter = (_args: unknown, place: EventPlace): Address => place.emitter

/** The state so far; a token whose creation was not seen begins with its first event. */
const known = (state: TokenState | null, place: EventPlace): TokenState =>
  state ?? blankToken(place.blockNumber, place.logIndex)

export const tokensFold: Fold<TokenColumns> = {
  name: 'tokens',
  version: 5,
  entity: 'token',
  columns,
  // Kilobytes, which a change of a number does not repeat; nor does a logo the names.
  apart: { token_names: ['name', 'symbol', 'currency'], token_logos: ['logo_uri'] },
  beside: [adminsFold],
  reducers: [
    on(
      tokenCreated,
      ({ token }) => token,
      (state, { name, symbol, currency, quoteToken }, place): TokenState => ({
        // The token's own events of its construction come before the factory's.
        ...known(state, place),
        created_block: place.blockNumber,
        created_log_idx: place.logIndex,
        created_at: place.timestampSeconds,
        name: shortText(shownText(name)),
        symbol: shortText(shownText(symbol)),
        currency: shortText(shownText(currency)),
        quote_token: quoteToken,
        supply_cap: state?.supply_cap ?? supplyCapDefault,
        transfer_policy_id: state?.transfer_policy_id ?? policyAllowAll,
      }),
    ),
    on(supplyCapUpdate, emitter, (state: TokenState | null, { newSupplyCap }, place) => ({
      ...known(state, place),
      supply_cap: newSupplyCap,
    })),
    on(pauseStateUpdate, emitter, (state: TokenState | null, { isPaused }, place) => ({
      ...known(state, place),
      paused: isPaused,
    })),
    on(transferPolicyUpdate, emitter, (state: TokenState | null, { newPolicyId }, place) => ({
      ...known(state, place),
      transfer_policy_id: newPolicyId,
    })),
    on(nextQuoteTokenSet, emitter, (state: TokenState | null, { nextQuoteToken }, place) => ({
      ...known(state, place),
      next_quote_token: nextQuoteToken,
    })),
    on(quoteTokenUpdate, emitter, (state: TokenState | null, { newQuoteToken }, place) => ({
      ...known(state, place),
      quote_token: newQuoteToken,
    })),
    on(logoUriUpdated, emitter, (state: TokenState | null, { newLogoURI }, place) => ({
      ...known(state, place),
      logo_uri: shortUri(shownText(newLogoURI)),
    })),
    // The accounts themselves are rows of their own.
    on(roleMembershipUpdated, emitter, (state: TokenState | null, _args, place) => known(state, place)),
  ],
}
