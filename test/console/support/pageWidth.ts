import type { Page } from 'playwright-core'

/**
 * CSS pixels that the page shown takes. Pages scroll in their panel, so that the document is never
 * wider than the window.
 */
export const pageWidth = (page: Page): Promise<number> =>
  page
    .locator('body > [role=tabpanel]:visible')
    .first()
    .evaluate((panel) => panel.scrollWidth)
