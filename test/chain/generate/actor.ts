/** The accounts that act, with what is needed to sign the next transaction of each. */
import { keccak256, stringToHex } from 'viem'
import { Account } from 'viem/tempo'
import { type Party, rootParty, secp256k1Party } from '#local/devchain/traffic/parties.ts'
import type { TxDraft } from '#local/devchain/traffic/signDraft.ts'
import type { Hex } from '#primitives.ts'

export type Signature = 'secp256k1' | 'p256' | 'webAuthn'

/** The consent of an account to its access key. */
export type Authorization = Pick<TxDraft, 'authorizeUntil' | 'limits'>

const webAuthnOrigin = { rpId: 'wallet.test', origin: 'https://wallet.test' }

export class Actor {
  /** Tokens it has some of; it uses no other. */
  readonly holds: Hex[] = []
  /** `<token>:<spender>` it has approved. */
  readonly approved = new Set<string>()
  /** The next nonce of ordinary transactions. */
  nonce = 0
  /** The next nonces of its lanes. */
  readonly #lanes = new Map<bigint, number>()
  #party: Party
  #authorization: Authorization | undefined

  constructor(party: Party) {
    this.#party = party
  }

  /** An account whose key follows from a text. */
  static seeded(seed: string, signature: Signature): Actor {
    const key = keyOf(seed)
    if (signature === 'p256') return new Actor(rootParty(Account.fromP256(key)))
    if (signature === 'webAuthn')
      return new Actor(rootParty(Account.fromHeadlessWebAuthn(key, webAuthnOrigin)))
    return new Actor(secp256k1Party(key))
  }

  get party(): Party {
    return this.#party
  }

  get address(): Hex {
    return this.#party.address
  }

  get hasAccessKey(): boolean {
    return this.#party.accessKey !== undefined
  }

  /** Only secp256k1 keys can sign Ethereum's envelopes, and only for themselves. */
  get signsEthereum(): boolean {
    return this.#party.plain !== undefined && !this.hasAccessKey
  }

  /** Lets an access key sign from now on; the next transaction carries the consent to it. */
  giveAccessKey(seed: string, authorization: Authorization): void {
    const account = Account.fromSecp256k1(keyOf(seed), { access: this.#party.root })
    const accessKey = { account, hasLimits: authorization.limits !== undefined }
    this.#party = { ...this.#party, signer: account, accessKey }
    this.#authorization = authorization
  }

  /** The authorization that the next transaction carries, once. */
  takeAuthorization(): Authorization {
    const authorization = this.#authorization ?? {}
    this.#authorization = undefined
    return authorization
  }

  /** The next nonce, of a lane if one is named; `count` are used up. */
  takeNonce(lane: bigint | undefined, count: number): number {
    if (lane === undefined) {
      this.nonce += count
      return this.nonce - count
    }
    const nonce = this.#lanes.get(lane) ?? 0
    this.#lanes.set(lane, nonce + count)
    return nonce
  }
}

const keyOf = (seed: string): Hex => keccak256(stringToHex(seed))
