//! The probe must see what *is* possible where nothing is isolated, or its silence inside would prove nothing.
