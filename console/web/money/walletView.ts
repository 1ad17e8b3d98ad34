/** The wallet: its day, balances, shares and limits. */
import { shortAddress } from '../../model/AccountClient.ts'
import { grouped, type Money, permille, type Wallet, type WalletSpent } from '../../model/money.ts'
import { element } from '../element.ts'
import { badge } from '../parts/badge.ts'
import { card } from '../parts/card.ts'
import { fact } from '../parts/fact.ts'
import { table } from '../table.ts'
import { hashCell, meaning, meter } from './parts.ts'

export function walletView({ wallet }: Pick<Money, 'wallet'>): HTMLElement[] {
  if (!wallet)
    return [
      card(
        'Wallet',
        meaning(
          'There is no wallet, so no job can be bought. Name one by the setting ',
          element('code', {}, 'WALLET_FILE'),
          ': see ',
          element('code', {}, 'docs/wallet.md'),
          '.',
        ),
      ),
    ]
  return [dayCard(wallet), balancesCard(wallet), sharesCard(wallet), limitsCard(wallet)]
}

function dayCard(wallet: Wallet): HTMLElement {
  const { address, day, left, limits, reserved, held } = wallet
  const spent = wallet.spent.find(({ kind }) => kind === 'all')?.dollars ?? '0'
  return card(
    'Wallet',
    element(
      'p',
      { class: 'headline' },
      stateOf(wallet),
      element('code', { title: address, id: 'wallet-address' }, shortAddress(address)),
    ),
    element(
      'dl',
      { class: 'facts' },
      fact('Left today', grouped(left), `of ${grouped(limits.day)} dollars on ${day} (UTC)`),
      fact('Spent today', grouped(spent), 'dollars, with what is under way'),
      fact('Under way', grouped(reserved), 'dollars at worst, not settled yet'),
      fact('Held by jobs', grouped(held), 'dollars that jobs of today may still spend'),
    ),
    meter(`Spent of the day’s ${limits.day} dollars`, permille(spent, limits.day)),
  )
}

function stateOf({ paused, awaitsReconciliation }: Wallet): HTMLElement {
  if (paused !== null) return badge('paused', 'bad')
  return awaitsReconciliation ? badge('looks for what was paid', 'busy') : badge('pays', 'good')
}

function balancesCard({ balances }: Wallet): HTMLElement {
  const rows = balances.map(({ chainId, token, amount }) => [
    `${chainId}`,
    hashCell(token),
    amount === null ? badge('no node answers', 'bad') : element('span', { class: 'figure' }, grouped(amount)),
  ])
  return card(
    'Balances',
    rows.length > 0 ? table(['Chain', 'Token', 'Has'], rows) : meaning('No token is at par on its chains.'),
  )
}

const kindWords = { service: 'service', payee: 'payee', payer: 'payer of jobs' } as const

function sharesCard({ spent, limits }: Wallet): HTMLElement {
  const shares = spent.flatMap((one) => (one.kind === 'all' ? [] : [shareRow(one, one.kind, limits)]))
  return card(
    'Shares of the day',
    shares.length > 0
      ? table(['Of', 'Whose', 'Dollars', 'Of its limit'], shares)
      : meaning('Nothing was spent today.'),
  )
}

const shareRow = (
  { subject, dollars }: WalletSpent,
  kind: keyof typeof kindWords,
  limits: Wallet['limits'],
): (string | HTMLElement)[] => [
  kindWords[kind],
  kind === 'service' ? element('code', {}, subject) : hashCell(subject),
  element('span', { class: 'figure' }, grouped(dollars)),
  element(
    'span',
    { class: 'share' },
    meter(`Of the ${limits[kind]} dollars of a ${kind}`, permille(dollars, limits[kind])),
    element('span', { class: 'figure' }, grouped(limits[kind])),
  ),
]

const limitsCard = ({ limits }: Wallet): HTMLElement =>
  card(
    'Limits',
    element(
      'dl',
      { class: 'facts' },
      fact('Job', grouped(limits.job), 'dollars of one job'),
      fact('Day', grouped(limits.day), 'dollars of all together'),
      fact('Service', grouped(limits.service), 'a day, of each service'),
      fact('Payee', grouped(limits.payee), 'a day, of each payee'),
      fact('Payer', grouped(limits.payer), 'a day, for jobs of each payer'),
    ),
  )
