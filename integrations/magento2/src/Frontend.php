<?php

declare(strict_types=1);

namespace Larder\Magento2;

use Magento\Framework\Cache\Frontend\Adapter\Zend;

/** Magento's frontend over a backend of Zend_Cache. Magento 2.4.9 asks frontends for one more mode than it has: its nightly job cleans what is old. */
class Frontend extends Zend
{
    /**
     * @param string        $mode
     * @param array<string> $tags
     *
     * @return bool
     *
     * @throws \InvalidArgumentException decorators could not keep to their scope in that mode
     */
    public function clean($mode = \Zend_Cache::CLEANING_MODE_ALL, array $tags = [])
    {
        if ($mode !== \Zend_Cache::CLEANING_MODE_OLD) {
            return parent::clean($mode, $tags);
        }
        $backend = $this->getBackend();
        \assert($backend instanceof \Zend_Cache_Backend_Interface);

        return $backend->clean($mode);
    }
}
