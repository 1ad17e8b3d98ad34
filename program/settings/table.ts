/**
 * Every setting, once: its form, its default and what it means. The settings that are read,
 * `millrace config` and the table of docs/settings.md derive from here.
 */
import { KEY_BYTES } from '#rows/sealing.ts'
import { MULTIPLIER_PATTERN, PAR_TOKEN_PATTERN, parTokensDefault } from '#wallet/currencies.ts'
import * as chain from './chainFields.ts'
import { type Kind, list, matching, oneOf, secret, text, url, whole, wholeOr } from './kind.ts'

export interface Setting {
  readonly kind: Kind
  /** Text of the default; empty for none. */
  readonly fallback: string
  /** Markdown of one line. */
  readonly meaning: string
}

const setting = <Given extends Kind, const Fallback extends string>(
  kind: Given,
  fallback: Fallback,
  meaning: string,
) => ({ kind, fallback, meaning })

const http = url('http', 'https')
const secretKey = secret(matching(`^[A-Za-z0-9+/]{43}=$`, `the base64 of ${KEY_BYTES} bytes`))

/** Standard Webhooks 1.0.0: a secret has 24 to 64 bytes. */
const signingSecret = secret(
  matching(
    '^whsec_[A-Za-z0-9+/]+={0,2}$',
    '`whsec_` and the base64 of 24 to 64 bytes',
    (text) => signingKey(text).length >= 24 && signingKey(text).length <= 64,
  ),
)

/** The bytes of a signing secret. */
export const signingKey = (text: string): Uint8Array => Buffer.from(text.slice('whsec_'.length), 'base64')

export const settings = {
  PORT: setting(whole(0, 65_535), '8080', 'Port of the API; 0 takes a free one.'),
  HOST: setting(text, '127.0.0.1', 'Address the API listens on.'),
  RPC_URL: setting(
    list(chain.rpcUrl),
    '',
    'JSON-RPC endpoints of one chain, comma separated; unset starts a local dev chain with live traffic, whose id is 1337.',
  ),
  RELAY_URL: setting(
    list(chain.rpcUrl),
    '',
    'JSON-RPC endpoints for the calls of clients at `/rpc` alone, comma separated; unset uses those of `RPC_URL`. In the file of `CONFIG`: `relayUrls`.',
  ),
  RPC_METHODS: setting(
    list(chain.rpcMethod),
    '',
    'Methods of the node, comma separated, that clients may call at `/rpc` besides [the usual ones](rpc.md). In the file of `CONFIG`: `rpcMethods`.',
  ),
  DATABASE_URL: setting(
    url('postgres', 'postgresql'),
    '',
    'Postgres 18; unset starts an embedded one under `DATA_DIR`.',
  ),
  CLICKHOUSE_URL: setting(http, '', 'ClickHouse over HTTP; unset starts an embedded one under `DATA_DIR`.'),
  CLICKHOUSE_READER_URL: setting(
    http,
    '',
    'ClickHouse as the restricted user that runs analysts’ SQL; unset has the user of `CLICKHOUSE_URL` make one.',
  ),
  CLICKHOUSE_CLUSTER: setting(text, '', 'Cluster name: tables become Replicated; unset for one server.'),
  DATA_DIR: setting(text, '.millrace', 'Where embedded engines keep their data.'),
  START_BLOCK: setting(
    chain.startBlock,
    '',
    'First block of the history to index; unset is the first block held, and 0 at a first start. A lower one fills the gap; a higher one is refused, as is a first start above the newest block.',
  ),
  FINALITY_DEPTH: setting(
    chain.finalityDepth,
    '64',
    'Blocks behind the head that count as final where the node has no `finalized` tag, and at a start where one of several endpoints answers.',
  ),
  VERIFY: setting(
    chain.checks,
    'roots',
    '`roots` recomputes every hash and root and checks the sender of 1 in 250 transactions; `links` checks parent links, counts and indexes only.',
  ),
  ALARM_URL: setting(
    http,
    '',
    'Where alarms are posted as JSON: stores that differ or are down, a lane that stopped, finality violated.',
  ),
  ALARM_SECRET: setting(
    signingSecret,
    '',
    'Signs the posts to `ALARM_URL` ([Standard Webhooks](https://www.standardwebhooks.com)): `whsec_` and the base64 of 24 to 64 random bytes.',
  ),
  ACCESS: setting(
    oneOf('open', 'guarded'),
    '',
    '`guarded` asks for keys and counts requests, `open` lets everybody in; unset is open to this machine alone where `HOST` is loopback and neither `PUBLIC_URL` nor `TRUSTED_PROXIES` is set, else guarded: [access.md](access.md).',
  ),
  PUBLIC_URL: setting(
    matching('^https?://[^/?#@\\s]+/?$', 'an http:// or https:// URL without a path'),
    '',
    'Where people reach the service, for sign-in and its cookie: `https://data.example.com`.',
  ),
  TRUSTED_PROXIES: setting(
    list(text),
    '',
    'Addresses or CIDR ranges, comma separated, of proxies whose `X-Forwarded-For` is believed.',
  ),
  CORS_ORIGINS: setting(
    list(matching('^https?://[^/?#@\\s]+$', 'an origin: http:// or https://, a host, and a port or none')),
    '',
    'Origins, comma separated, whose web pages may read answers: `https://app.example.com`. Unset: the own one alone where the service is open to its own machine, else all.',
  ),
  ACCESS_FILE: setting(
    text,
    '',
    'A JSON file with quotas, sign-up and the scopes people may give to keys ([access.md](access.md)), and with [prices](payments.md).',
  ),
  SECRET_KEY: setting(
    list(secretKey),
    '',
    'Base64 of 32 random bytes that wrap the secrets kept in Postgres; to exchange it, the new one, a comma, the old one. Unset: with the embedded Postgres a file in `DATA_DIR`, else in clear.',
  ),
  WEBHOOKS: setting(
    oneOf('on', 'off', 'loopback'),
    '',
    '`on` sends events to [subscriptions](webhooks.md) at public https URLs; `off` sends no events; `loopback` also sends them to this machine, for development. Unset: `loopback` if the service is open to its own machine and has the local dev chain alone, else `on`.',
  ),
  AUDIT_PERCENT: setting(
    wholeOr(0, 100, 'off'),
    '1',
    'A background audit reads each newly final block again, and this percent of history each day, and compares both stores with the node; `off` stops it.',
  ),
  WORKER_THREADS: setting(
    whole(1, 64),
    '',
    'Threads that verify, decode and encode; unset for two, or one on a machine of two cores or less.',
  ),
  TOKENLIST: setting(
    text,
    '',
    'A JSON file with the verified tokens, in their order; unset for the genesis tokens of Tempo: `{"timestamp": "2026-01-31T12:00:00Z", "tokens": [{"chainId": 4217, "address": "0x…", "logo": "usd.svg"}]}`. A logo is a file beside it, or a `data:` or `https:` URI.',
  ),
  ATTRIBUTIONS: setting(
    text,
    '',
    'A JSON file with names of paid services, which transfers show as `attribution` before those of the [catalog](services.md): `{"services": [{"name": "Example", "realm": "api.example.com"}]}`.',
  ),
  COST_MULTIPLIER: setting(
    matching(MULTIPLIER_PATTERN, 'a decimal number with up to six places'),
    '',
    'The price of a plan of paid calls: that of its sellers, times this. Unset: 1, and 1.5 on the local dev chain, whose jobs then earn enough for a [reward](jobs.md#reviewing-one).',
  ),
  JOB_COST_MAX: setting(
    matching('^[0-9]{1,9}(\\.[0-9]{1,6})?$', 'a decimal number with up to six places'),
    '',
    'The most that one [job](services.md#jobs) may cost, in dollars; one that costs more is refused before its payment. Unset: the limit of the wallet for one job, times `COST_MULTIPLIER`, and no more than payouts send in a day; more than either ends the start.',
  ),
  PAR_TOKENS: setting(
    list(matching(PAR_TOKEN_PATTERN, '<chain as CAIP-2>:<token>:<decimals>')),
    parTokensDefault.join(','),
    'Tokens that count as one dollar each in quotes; a price in any other is refused.',
  ),
  RESULT_DAYS: setting(
    whole(1, 3_650),
    '7',
    'Days that plans and outputs of jobs are kept after their end; digests and amounts stay.',
  ),
  WALLET_FILE: setting(
    text,
    '',
    'A JSON file with the key that pays for the calls of jobs, and its limits ([wallet.md](wallet.md)); unset: beside a local dev chain a wallet of its own, else no job is bought.',
  ),
  CATALOG_PROBES: setting(
    oneOf('on', 'off'),
    'on',
    '`on` looks at each service of the [catalog](services.md) about once a day, without paying, and leaves services that do not answer out of searches; `off` asks no service.',
  ),
  LIVE_SEARCH: setting(
    oneOf('on', 'off'),
    'off',
    '`on` lets searches with `resolution=live` ask the sellers they found whether they are there; `off` answers them from the catalog.',
  ),
  SEARCH_QUALITY: setting(
    oneOf('on', 'off'),
    'off',
    '`on` lets searches put endpoints that delivered paid calls, and that payers rated well, before others that fit as well; `off` orders by the catalog alone.',
  ),
  LOG_LEVEL: setting(
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
    'info',
    'debug, info, warn, error or silent; JSON lines on stderr.',
  ),
  LOG_REQUESTS: setting(
    oneOf('on', 'off'),
    'off',
    '`on` logs each answered request at `info`: id, method, pattern of the path, status and seconds; never a query string, which may hold a key.',
  ),
  CONFIG: setting(
    text,
    '',
    '[A JSON file with several chains](#the-file-that-config-names); replaces `RPC_URL`, `RELAY_URL`, `RPC_METHODS`, `START_BLOCK`, `FINALITY_DEPTH` and `VERIFY`.',
  ),
} as const satisfies Readonly<Record<string, Setting>>
