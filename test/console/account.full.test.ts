// Goal: in a browser, a person signs in with a wallet, makes an organization, a project and a key,
// runs queries as themselves, and signs out.
// Method: the real pages and the real access; the wallet announces itself as EIP-6963 says, and
// signs with viem.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { isAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newToken } from '#api/access/token.ts'
import { insertInvitation } from '#rows/access/invitations.ts'
import { insertKey } from '#rows/access/keys.ts'
import { type ChainApi, openChainApi } from '../api/support/chainApi.ts'
import { app, defaults, openSignIn, pepper } from '../api/support/signInServer.ts'
import { recordedBatches } from '../store/support/chainStore.ts'
import { describeInBrowser, launchBrowser } from './support/browser.ts'

const wallet = privateKeyToAccount(generatePrivateKey())
const callers: { readonly id: string; readonly route: string }[] = []
const { access, ...services } = openSignIn({ publicUrl: null }, ({ id }, _rule, { route }) =>
  callers.push({ id, route }),
)

describe('the account page', () => {
  describeInBrowser('in a browser', () => {
    let api: ChainApi
    let browser: Browser
    let context: BrowserContext
    let page: Page
    const complaints: string[] = []

    beforeAll(async () => {
      api = await openChainApi({ services, server: { access } })
      await api.append(recordedBatches('tempo-dev-2k', 3))
      browser = await launchBrowser()
      context = await browser.newContext()
      context.setDefaultTimeout(100_000)
      page = await context.newPage()
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('dialog', (dialog) => void dialog.accept())
      await page.exposeFunction('signText', (hex: `0x${string}`) =>
        wallet.signMessage({ message: { raw: hex } }),
      )
      await page.addInitScript(announceWallet, wallet.address)
    })
    afterAll(async () => {
      await browser?.close()
      await api?.close()
    })
    const part = (title: string) => page.getByRole('region', { name: title, exact: true })

    test('an invited person signs in, makes a key and queries as themselves', async () => {
      const { id } = await insertInvitation(app, {
        orgId: defaults.orgId,
        email: '',
        address: null,
        role: 'admin',
        invitedBy: defaults.userId,
      })
      await page.goto(`${api.server.origin}/#view=account&invitation=${id}`)
      await page.getByRole('button', { name: 'Sign in with Test Wallet' }).click()
      expect(isAddress((await page.locator('#account').getAttribute('title')) ?? '')).toBe(true)
      await part('Organizations').getByRole('button', { name: 'Default' }).waitFor()
      expect(page.url()).not.toContain('invitation')

      await part('Organizations').getByLabel('Name').fill('Acme')
      await part('Organizations').getByRole('button', { name: 'Create' }).click()
      await part('Organization').waitFor()
      await part('API keys').getByLabel('Project').fill('Site')
      await part('API keys').getByRole('button', { name: 'Create project' }).click()
      await part('API keys').getByLabel('Name').fill('web')
      await part('API keys').getByRole('button', { name: 'Create key' }).click()
      const token = await part('API keys').locator('.token code').textContent()
      expect(token).toMatch(/^svc_live_[0-9A-Za-z]{46}$/)
      await part('API keys').getByRole('button', { name: 'Done' }).click()
      await part('API keys')
        .getByRole('cell', { name: `…${token?.slice(-4)}` })
        .waitFor()
      expect(await page.content()).not.toContain(token)
      expect(await part('Usage').locator('#usage').textContent()).toContain('No requests in 30 days.')
      await part('API keys').getByRole('button', { name: 'Revoke' }).click()
      await part('API keys').getByText('No keys yet.').waitFor()

      const before = callers.length
      await page.locator('#tab-query').click()
      await page.locator('#summary').filter({ hasText: /\S/ }).waitFor()
      const asked = () => callers.slice(before).filter(({ route }) => route === '/v1/indexer/query')
      await expect.poll(() => asked().length).toBeGreaterThan(0)
      expect(asked().every(({ id: caller }) => caller.startsWith('usr_'))).toBe(true)
    })

    test('nothing of members is out of a narrow window', async () => {
      await page.locator('#tab-account').click()
      await page.setViewportSize({ width: 390, height: 844 })
      for (const place of [part('Members').getByLabel('Account'), part('Members').getByText('Leave')]) {
        const box = await place.boundingBox()
        expect(box && box.x + box.width).toBeLessThan(390 - 16)
      }
    })

    test('signing out ends it', async () => {
      await page.locator('#tab-account').click()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('button', { name: 'Sign in with Test Wallet' }).waitFor()
      expect(await context.cookies()).toEqual([])
      expect(complaints).toEqual([])
    })

    test('a pasted key is the one that queries count as; it stays in the tab and in no URL', async () => {
      const urls: string[] = []
      page.on('request', (request) => urls.push(request.url()))
      const { orgId, projectId } = defaults
      const token = newToken('live')
      const unlimited = { expiresAt: null, allowedIps: null, chains: null, origins: null, addressQuota: null }
      const made = {
        orgId,
        projectId,
        token,
        name: null,
        environment: 'production',
        createdBy: null,
      } as const
      const { id } = await insertKey(app, { ...unlimited, ...made, scopes: ['*'], quota: null }, pepper)
      const own = part('Your API key')
      await own.getByLabel('Key').fill(newToken('live'))
      await own.getByRole('button', { name: 'Use key' }).click()
      await own.getByText('The API key is unknown, expired or revoked.').waitFor()
      await own.getByLabel('Key').fill(token)
      await own.getByRole('button', { name: 'Use key' }).click()
      expect(await page.locator('#own-key').textContent()).toBe(`…${token.slice(-4)}`)

      const before = callers.length
      await page.locator('#tab-query').click()
      await page.locator('#run').click()
      const asked = () => callers.slice(before).filter(({ route }) => route === '/v1/indexer/query')
      await expect.poll(() => asked().at(-1)?.id).toBe(id)
      await page.locator('#tab-account').click()
      await own.getByRole('button', { name: 'Forget key' }).click()
      await own.getByLabel('Key').waitFor()
      expect([...urls, page.url(), await page.evaluate('JSON.stringify(localStorage)')].join()).not.toContain(
        token,
      )
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}')
    })
  })
})

/** Runs in the page. */
function announceWallet(address: string): void {
  const page = globalThis as unknown as EventTarget & { signText: (hex: string) => Promise<string> }
  const provider = {
    request: async ({ method, params }: { method: string; params?: string[] }) => {
      if (method === 'eth_requestAccounts') return [address]
      return method === 'eth_chainId' ? '0x1079' : page.signText(params?.[0] ?? '')
    },
  }
  const detail = Object.freeze({ info: { uuid: '1', name: 'Test Wallet', rdns: 'test', icon: '' }, provider })
  page.addEventListener('eip6963:requestProvider', () =>
    page.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail })),
  )
}
