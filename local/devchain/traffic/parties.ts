/**
 * The accounts that act on the dev chain: anvil's ten funded accounts in fixed roles, and wallets
 * with every kind of signature.
 */
import { pbkdf2Sync } from 'node:crypto'
import { keccak256, stringToHex } from 'viem'
import { HDKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { Account } from 'viem/tempo'
import type { Hex } from '#primitives.ts'

/** Somebody who signs. */
export interface Party {
  /** Lowercase. */
  readonly address: Hex
  /** Signs what the party does: its own key, or an access key it has given out. */
  readonly signer: Account.RootAccount | Account.AccessKeyAccount
  readonly root: Account.RootAccount
  /** Only secp256k1 keys can sign Ethereum's envelopes. */
  readonly plain?: PrivateKeyAccount
  readonly accessKey?: { readonly account: Account.AccessKeyAccount; readonly hasLimits: boolean }
}

const mnemonic = 'test test test test test test test test test test test junk' // anvil's default
const WALLET_COUNT = 24

/** Anvil's accounts: rich in the tokens of block 0. */
export function createDevParties(count: number): Party[] {
  // BIP-39 by node:crypto: viem's takes 50 ms of JavaScript per account.
  const seed = pbkdf2Sync(mnemonic, 'mnemonic', 2048, 64, 'sha512')
  const accounts = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'/0")
  return Array.from({ length: count }, (_, index) => {
    const { privateKey } = accounts.deriveChild(index)
    return secp256k1Party(`0x${Buffer.from(privateKey ?? []).toString('hex')}`)
  })
}

/**
 * The wallets of a seed. Of each twelve: six sign with secp256k1, two with p256, two with WebAuthn,
 * and two through an access key, one of them with spending limits.
 */
export function createWallets(seed: string): Party[] {
  return Array.from({ length: WALLET_COUNT }, (_, index) => {
    const key = keccak256(stringToHex(`${seed}/wallet/${index}`))
    const place = index % 12
    if (place === 3 || place === 9) return rootParty(Account.fromP256(key))
    if (place === 5 || place === 11) return rootParty(Account.fromHeadlessWebAuthn(key, webAuthnOrigin))
    if (place === 4 || place === 10) return accessKeyParty(key, place === 10)
    return secp256k1Party(key)
  })
}

const webAuthnOrigin = { rpId: 'wallet.example', origin: 'https://wallet.example' }

export function secp256k1Party(key: Hex): Party {
  return { ...rootParty(Account.fromSecp256k1(key)), plain: privateKeyToAccount(key) }
}

function accessKeyParty(key: Hex, hasLimits: boolean): Party {
  const root = Account.fromSecp256k1(key)
  const account = Account.fromSecp256k1(keccak256(key), { access: root })
  return { ...rootParty(root), signer: account, accessKey: { account, hasLimits } }
}

/** Somebody whose only key is the account's own. */
export function rootParty(root: Account.RootAccount): Party {
  return { address: lower(root.address), signer: root, root }
}

/** An address in the case everything here uses. */
export function lower(address: string): Hex {
  return `0x${address.slice(2).toLowerCase()}`
}
