/**
 * The pages of the console, in the order of their tabs. The first one is shown when a link names
 * none.
 */
import type { PageEntry } from './page.ts'

export const pages: readonly PageEntry[] = [
  { name: 'query', title: 'Query', load: () => import('./query/page.ts') },
  { name: 'catalog', title: 'Services', load: () => import('./catalog/page.ts') },
  { name: 'plan', title: 'Plan', load: () => import('./plan/page.ts') },
  { name: 'job', title: 'Job', load: () => import('./job/page.ts') },
  { name: 'account', title: 'Account', load: () => import('./account/page.ts') },
  { name: 'webhooks', title: 'Webhooks', load: () => import('./webhooks/page.ts') },
  { name: 'money', title: 'Money', load: () => import('./money/page.ts') },
  { name: 'status', title: 'Status', load: () => import('./status/page.ts') },
]
